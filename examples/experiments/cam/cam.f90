!> One evaluation of a cost function from a cold start against 100,000 evaluations in a loop: the
!> measurement of cam.c in Fortran, with the stopwatch of the module `hairspring` and the intrinsic
!> CPU_TIME, as in Table 3 of "A precise timing routine" (StopWatch).
!>
!>   hairspring run cam.f90
!>
!> The series are those of cam.c. Without a fence, evaluations that follow each other in `single`
!> may overlap.
include 'cam_functions.f90'

module cam_measured
  use, intrinsic :: iso_fortran_env, only: real64
  use cam_functions, only: direct_cost, gca, gca_cost, tana3, tana3_cost
  use hairspring, only: span_time, stopwatch
  implicit none

  integer, parameter :: functions = 3, single_rounds = 1000, loop_rounds = 12
  character(6), parameter :: names(functions) = [character(6) :: 'direct', 'GCA', 'TANA-3']
  !> Numbers of evaluations between two reads of the clock.
  integer, parameter :: singles(*) = [0, 1, 2, 4, 8], loops(*) = [25000, 50000, 75000, 100000]
  !> More than the second-level cache of the cores of today: 4 MiB, 8 numbers in each line.
  integer, parameter :: others = 524288, line = 8

  type(gca) :: by_gca
  type(tana3) :: by_tana3
  real(real64) :: other(others) = 0
  !> The compiler may assume nothing about these, so no evaluation is left out.
  real(real64), volatile :: design(2) = [0.88_real64, 0.25_real64], result

contains

  !> Other work, after which the caches hold other data.
  subroutine pass_over_other_data()
    other(::line) = other(::line) + 1
  end subroutine

  !> So many evaluations of a function, each at a point that the compiler does not know.
  subroutine evaluate(function, times)
    integer, intent(in) :: function, times
    real(real64) :: x(2)
    integer :: time

    select case (function)
    case (1)
      do time = 1, times
        x = design
        result = direct_cost(x)
      end do
    case (2)
      do time = 1, times
        x = design
        result = gca_cost(by_gca, x)
      end do
    case (3)
      do time = 1, times
        x = design
        result = tana3_cost(by_tana3, x)
      end do
    end select
  end subroutine

  !> The numbers from 0 in random order; in the first round in their own, which becomes the order of
  !> the series in the result.
  function shuffled(count, is_first) result(order)
    integer, intent(in) :: count
    logical, intent(in) :: is_first
    integer :: order(count), at, left, moved
    real(real64) :: random

    order = [(at, at = 0, count - 1)]
    if (is_first) return
    do left = count, 2, -1
      call random_number(random)
      at = 1 + int(random * left)
      moved = order(at)
      order(at) = order(left)
      order(left) = moved
    end do
  end function

  !> A row of the table of observations.
  subroutine print_reading(function, series, counts, round, ns)
    integer, intent(in) :: function, counts(3), round
    character(*), intent(in) :: series
    real(real64), intent(in) :: ns

    print '(3a, 4(",", i0), ",", f0.3)', trim(names(function)), ' ', series, counts, round - 1, ns
  end subroutine

  subroutine run_singles(watch, rounds)
    type(stopwatch), intent(inout) :: watch
    integer, intent(in) :: rounds
    type(span_time) :: time
    integer :: at, function, order(functions * size(singles)), round, times

    do round = 1, rounds
      order = shuffled(size(order), is_first=round == 1)
      do at = 1, size(order)
        function = 1 + order(at) / size(singles)
        times = singles(1 + mod(order(at), size(singles)))
        call pass_over_other_data()
        call watch%start()
        call evaluate(function, times)
        call watch%stop(time)
        call print_reading(function, 'single', [min(times, 1), max(times - 1, 0), 0], round, &
            time%ns%value)
      end do
    end do
  end subroutine

  subroutine run_loops(watch, rounds, shortened)
    type(stopwatch), intent(inout) :: watch
    integer, intent(in) :: rounds, shortened
    type(span_time) :: time
    real(real64) :: before, after
    integer :: at, function, order(functions * size(loops)), round, times

    do round = 1, rounds
      order = shuffled(size(order), is_first=round == 1)
      do at = 1, size(order)
        function = 1 + order(at) / size(loops)
        times = loops(1 + mod(order(at), size(loops))) / shortened
        call evaluate(function, 1)
        call cpu_time(before)
        call watch%start()
        call evaluate(function, times)
        call watch%stop(time)
        call cpu_time(after)
        call print_reading(function, 'loop', [0, 0, times], round, time%ns%value)
        call print_reading(function, 'loop cpu_time', [0, 0, times], round, &
            1e9_real64 * (after - before))
      end do
    end do
  end subroutine
end module

program cam
  use cam_functions, only: gca_of, known, known_at, tana3_of
  use cam_measured
  implicit none
  type(stopwatch) :: watch
  type(known) :: previous, current
  logical :: is_short

  ! With any argument it runs shortened loops in a single round: `hairspring run` asks for the names
  ! of the series in this way.
  is_short = command_argument_count() > 0
  ! The start of the paper's optimisation, and a point on the way to its result.
  previous = known_at([0.75_real64, 0.75_real64])
  current = known_at([0.9_real64, 0.2_real64])
  by_gca = gca_of(previous, current)
  by_tana3 = tana3_of(previous, current)

  print '(a)', '# hairspring observations: 1', 'series,first,next,evaluation,round,time_ns'
  call run_singles(watch, merge(1, single_rounds, is_short))
  call run_loops(watch, merge(1, loop_rounds, is_short), merge(1000, 1, is_short))
  call watch%free()
end program
