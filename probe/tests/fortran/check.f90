!> Tests of the module: a table is solved, wrong arguments are refused, names with blanks and an
!> init are passed on, a stopwatch runs. The first argument of the program is a file to write.
module counted
  use, intrinsic :: iso_c_binding, only: c_int64_t
  implicit none
  integer(c_int64_t) :: bodies = 0, inits = 0, setups = 0, seen = 0

contains

  subroutine count_body(argument) bind(c)
    integer(c_int64_t), intent(in) :: argument
    bodies = bodies + 1
    seen = argument
  end subroutine

  subroutine count_init(argument) bind(c)
    integer(c_int64_t), intent(in) :: argument
    inits = inits + 1
    seen = argument
  end subroutine

  subroutine count_setup(argument) bind(c)
    integer(c_int64_t), intent(in) :: argument
    setups = setups + 1
    seen = argument
  end subroutine
end module

program check
  use, intrinsic :: iso_fortran_env, only: real64
  use hairspring
  use counted
  implicit none
  character(400) :: path
  type(benchmarks) :: all
  integer :: status

  call get_command_argument(1, path)
  select case (path)
  case ('counted')
    call all%add_with_argument('counted "%s", b', 'n', [7, -7], count_body, init=count_init, &
        setup=count_setup)
    status = all%run()
    call expect(status == 0, 'the benchmark runs')
    call expect(bodies > 100 .and. inits > bodies .and. setups == 2 .and. seen == -7, &
        'all procedures are called')
  case ('--odd-event')
    print *, stop_watch('LAP')
  case default
    call a_table_is_solved(trim(path))
    call a_missing_file_is_refused()
    call the_stopwatch_runs()
  end select

contains

  subroutine expect(condition, what)
    logical, intent(in) :: condition
    character(*), intent(in) :: what

    if (condition) return
    print '(2a)', 'not so: ', what
    error stop 1
  end subroutine

  !> A body of 5 ticks and an overhead of 100, with a little made-up noise.
  subroutine a_table_is_solved(path)
    character(*), intent(in) :: path
    type(component), allocatable :: found(:)
    integer :: unit, round, copies, ticks

    open (newunit=unit, file=path, status='replace', action='write')
    write (unit, '(a)') '# hairspring observations: 1', '# clock: tsc', '# rate_hz: 2000000000', &
        'series,body,round,ticks'
    do round = 0, 99
      do copies = 1, 8
        ticks = 100 + 5 * copies + mod(7 * round + 3 * copies, 3)
        write (unit, '(a, i0, a, i0, a, i0)') '"five, and more",', copies, ',', round, ',', ticks
      end do
    end do
    close (unit)
    call fit_csv(path, found)
    call expect(size(found) == 2, 'a body and an overhead')
    call expect(found(1)%series == 'five, and more' .and. found(1)%name == 'body', 'their names')
    call expect(abs(found(1)%ticks%value - 5) < 0.05_real64 .and. &
        abs(found(1)%ns%value - 2.5_real64) < 0.03_real64, 'its time')
    call expect(found(1)%ticks%low < found(1)%ticks%value .and. &
        found(1)%ticks%value < found(1)%ticks%high, 'its interval')
    call expect(found(2)%is_overhead .and. .not. found(1)%is_overhead, 'which is which')
  end subroutine

  subroutine a_missing_file_is_refused()
    type(component), allocatable :: found(:)
    integer :: status

    call fit_csv('no such file', found, status)
    call expect(status /= 0 .and. size(found) == 0, 'a missing file is refused')
  end subroutine

  subroutine the_stopwatch_runs()
    type(stopwatch) :: watch
    type(span_time) :: time
    integer :: status

    call watch%stop(time, status)
    call expect(status /= 0, 'a watch that was not started is refused')
    call watch%start()
    call watch%stop(time)
    call expect(time%ns%low <= time%ns%value .and. time%ns%value <= time%ns%high, &
        'a span has an interval')
    call watch%free()
    call expect(abs(stop_watch('START')) <= 0, 'START returns 0')
    call expect(abs(stop_watch('STOP')) < 1e3_real64, 'STOP returns seconds')
  end subroutine
end program
