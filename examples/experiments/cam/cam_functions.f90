!> The cost function of the cam design problem and two approximations of it. The sources of the
!> formulas are in cam.h, which has the same functions in C.
module cam_functions
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none

  integer, parameter :: members = 100
  real(real64), parameter :: pi = 3.14159265358979323846_real64

  !> A point where the function is known.
  type :: known
    real(real64) :: x(2), value, gradient(2)
  end type

  !> GCA: constant + sum of factor * x**exponent.
  type :: gca
    real(real64) :: constant, factor(2), exponent(2)
  end type

  !> TANA-3: the powers of the variables at both points, and H.
  type :: tana3
    real(real64) :: value, factor(2), exponent(2), power1(2), power2(2), h
  end type

contains

  pure function angle(number)
    integer, intent(in) :: number
    real(real64) :: angle

    angle = pi * (1.0_real64 / 3 + (number - 1) / 180.0_real64)
  end function

  !> The cost: pi / 3.6 times the sum of ((log t + x2) sin t + x1 cos t)**2 + ((log t + x2) cos t -
  !> x1 sin t)**2 over 100 angles t.
  pure function direct_cost(x) result(cost)
    real(real64), intent(in) :: x(2)
    real(real64) :: cost, radius, t
    integer :: number

    cost = 0
    do number = 1, members
      t = angle(number)
      radius = log(t) + x(2)
      cost = cost + (radius * sin(t) + x(1) * cos(t))**2 + (radius * cos(t) - x(1) * sin(t))**2
    end do
    cost = pi / 3.6_real64 * cost
  end function

  !> The cost and its gradient.
  pure function known_at(x) result(at)
    real(real64), intent(in) :: x(2)
    type(known) :: at
    real(real64) :: along, across, radius, t
    integer :: number

    at = known(x, direct_cost(x), [0.0_real64, 0.0_real64])
    do number = 1, members
      t = angle(number)
      radius = log(t) + x(2)
      along = radius * sin(t) + x(1) * cos(t)
      across = radius * cos(t) - x(1) * sin(t)
      at%gradient = at%gradient + pi / 1.8_real64 * &
          [along * cos(t) - across * sin(t), along * sin(t) + across * cos(t)]
    end do
  end function

  !> The exponent with which a power of the variable has the gradients of both points; 1 where no
  !> power has both.
  elemental function exponent_of(gradients, variables) result(r)
    real(real64), intent(in) :: gradients, variables
    real(real64) :: r

    r = 1
    if (.not. (gradients > 0 .and. variables > 0)) return
    if (abs(log(variables)) > 1e-12_real64) r = 1 + log(gradients) / log(variables)
  end function

  !> Value and gradient are those of the function at the current point, and the gradient also at the
  !> previous one. A term is convex if its exponent is at least 1 where the gradient is positive,
  !> and at most 1 where it is negative.
  pure function gca_of(previous, current) result(made)
    type(known), intent(in) :: previous, current
    type(gca) :: made
    real(real64) :: r(2)

    r = exponent_of(previous%gradient / current%gradient, previous%x / current%x)
    made%exponent = merge(max(r, 1.0_real64), min(r, 1.0_real64), current%gradient > 0)
    made%factor = current%gradient * current%x**(1 - made%exponent) / made%exponent
    made%constant = current%value - sum(made%factor * current%x**made%exponent)
  end function

  pure function gca_cost(made, x) result(cost)
    type(gca), intent(in) :: made
    real(real64), intent(in) :: x(2)
    real(real64) :: cost

    cost = made%constant + sum(made%factor * x**made%exponent)
  end function

  !> Value and gradient are those of the function at both points.
  pure function tana3_of(previous, current) result(made)
    type(known), intent(in) :: previous, current
    type(tana3) :: made

    made%value = current%value
    made%exponent = exponent_of(previous%gradient / current%gradient, previous%x / current%x)
    made%power1 = previous%x**made%exponent
    made%power2 = current%x**made%exponent
    made%factor = current%gradient * current%x**(1 - made%exponent) / made%exponent
    made%h = 2 * (previous%value - current%value - sum(made%factor * (made%power1 - made%power2)))
  end function

  pure function tana3_cost(made, x) result(cost)
    type(tana3), intent(in) :: made
    real(real64), intent(in) :: x(2)
    real(real64) :: cost, power(2), from1, from2

    power = x**made%exponent
    from1 = sum((power - made%power1)**2)
    from2 = sum((power - made%power2)**2)
    cost = made%value + sum(made%factor * (power - made%power2)) + 0.5_real64 * made%h / &
        (from1 + from2) * from2
  end function
end module
