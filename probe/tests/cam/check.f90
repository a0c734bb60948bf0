!> The same as check.c, in Fortran.
include '../../../examples/experiments/cam/cam_functions.f90'

program check
  use cam_functions
  implicit none
  character(40) :: word
  real(real64) :: at(4), x(2)
  type(known) :: previous, current, here
  integer :: number, status

  do number = 1, 4
    call get_command_argument(number, word)
    read (word, *) at(number)
  end do
  previous = known_at(at(:2))
  current = known_at(at(3:))
  do
    read (*, *, iostat=status) x
    if (status /= 0) exit
    here = known_at(x)
    print '(5(es25.17e3, 1x))', here%value, here%gradient, gca_cost(gca_of(previous, current), x), &
      tana3_cost(tana3_of(previous, current), x)
  end do
end program
