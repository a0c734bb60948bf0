!> Benchmarks: `fpm run NAME --profile release`. Put your own procedures in the place of these.
module NAME_work
  use, intrinsic :: iso_c_binding, only: c_int64_t
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  integer, parameter :: most = 4096
  real(real64) :: x(most), y(most), total

contains

  !> The time of a call, which is in the time of the other procedures, too.
  subroutine nothing() bind(c)
  end subroutine

  subroutine fill(size) bind(c)
    integer(c_int64_t), intent(in) :: size
    x(:size) = 1.5_real64
    y(:size) = 2
  end subroutine

  subroutine dot(size) bind(c)
    integer(c_int64_t), intent(in) :: size
    total = dot_product(x(:size), y(:size))
  end subroutine
end module

program NAME
  use hairspring, only: benchmarks
  use NAME_work
  implicit none
  type(benchmarks) :: all

  call all%add('nothing', nothing)
  call all%add_with_argument('dot', 'size', [16, 256, 4096], dot, setup=fill)
  call all%main()
end program
