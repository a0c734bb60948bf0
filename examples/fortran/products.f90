!> A dot product at three sizes, the intrinsic matmul against loops, and an empty procedure.
!>
!>   gfortran -O2 $(pkg-config --variable=includedir hairspring)/hairspring.f90 products.f90 \
!>     $(pkg-config --libs hairspring) -o products && ./products
module work
  use, intrinsic :: iso_c_binding, only: c_int64_t
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  integer, parameter :: most = 4096, order = 8
  real(real64) :: x(most), y(most), total
  real(real64) :: a(order, order), b(order, order), c(order, order)

contains

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

  subroutine fill_matrices() bind(c)
    a = 0.5_real64
    b = 2
  end subroutine

  subroutine by_intrinsic() bind(c)
    c = matmul(a, b)
  end subroutine

  subroutine by_loops() bind(c)
    integer :: i, j, k
    c = 0
    do j = 1, order
      do k = 1, order
        do i = 1, order
          c(i, j) = c(i, j) + a(i, k) * b(k, j)
        end do
      end do
    end do
  end subroutine
end module

program products
  use hairspring, only: benchmarks
  use work
  implicit none
  type(benchmarks) :: all

  call all%add('nothing', nothing)
  call all%add_with_argument('dot', 'size', [16, 256, 4096], dot, setup=fill)
  call all%add('matmul', by_intrinsic, setup=fill_matrices)
  call all%add('loops', by_loops, alternative=.true.)
  call all%main()
end program
