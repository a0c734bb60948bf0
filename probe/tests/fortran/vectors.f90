!> The vectors that every language must pass: spec/vectors, from the project's root.
program vectors
  use, intrinsic :: iso_fortran_env, only: real64
  use hairspring
  implicit none
  character(*), parameter :: folder = 'spec/vectors/'
  character(512) :: line
  integer :: unit, ended, seen

  open (newunit=unit, file=folder//'expected.csv', status='old', action='read')
  read (unit, '(a)') line
  seen = 0
  do
    read (unit, '(a)', iostat=ended) line
    if (ended /= 0) exit
    call check(trim(line))
    seen = seen + 1
  end do
  close (unit)
  if (seen <= 12) call failed('too few lines')

contains

  subroutine failed(what)
    character(*), intent(in) :: what

    print '(2a)', 'not found: ', what
    error stop 1
  end subroutine

  !> One line: file, level, series, component, unit, value, low, high, below_resolution.
  subroutine check(line)
    character(*), intent(in) :: line
    character(64) :: field(9)
    real(real64) :: level, value, low, high
    type(component), allocatable :: found(:)
    type(estimate) :: time
    integer :: at

    call split(line, field)
    level = number(field(2))
    value = number(field(6))
    low = number(field(7))
    high = number(field(8))
    call fit_csv(folder//trim(field(1)), found)
    at = place(found, trim(field(3)), trim(field(4)))
    if (at == 0) call failed(line)
    time = in_unit(found(at), trim(field(5)))
    if (.not. (close_to(time%level, level) .and. close_to(time%value, value))) call failed(line)
    if (.not. (close_to(time%low, low) .and. close_to(time%high, high))) call failed(line)
    if (found(at)%below_resolution .neqv. field(9) == '1') call failed(line)
  end subroutine

  !> The texts between the commas.
  subroutine split(line, field)
    character(*), intent(in) :: line
    character(*), intent(out) :: field(:)
    integer :: at, begin, length

    begin = 1
    do at = 1, size(field)
      if (begin > len(line)) call failed(line)
      length = index(line(begin:)//',', ',') - 1
      field(at) = line(begin:begin + length - 1)
      begin = begin + length + 1
    end do
  end subroutine

  real(real64) function number(text)
    character(*), intent(in) :: text

    read (text, *) number
  end function

  !> Index of a component of a series; 0 if there is none.
  integer function place(found, series, name)
    type(component), intent(in) :: found(:)
    character(*), intent(in) :: series, name

    do place = size(found), 1, -1
      if (found(place)%series == series .and. found(place)%name == name) return
    end do
    place = 0
  end function

  type(estimate) function in_unit(found, unit)
    type(component), intent(in) :: found
    character(*), intent(in) :: unit

    in_unit = found%ticks
    if (unit == 'ns') in_unit = found%ns
    if (unit == 'cycles') in_unit = found%cycles
  end function

  logical function close_to(found, expected)
    real(real64), intent(in) :: found, expected

    close_to = abs(found - expected) <= 1e-9_real64 * max(abs(expected), 1e-3_real64)
  end function
end program
