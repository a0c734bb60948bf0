!> Single spans of time with their uncertainty, and in seconds as from the classic routine.
!>
!>   gfortran -O2 $(pkg-config --variable=includedir hairspring)/hairspring.f90 stopwatch.f90 \
!>     $(pkg-config --libs hairspring) -o stopwatch && ./stopwatch
program watch_a_sum
  use, intrinsic :: iso_fortran_env, only: real64
  use hairspring, only: span_time, stop_watch, stopwatch
  implicit none
  type(stopwatch) :: watch
  type(span_time) :: time
  real(real64) :: numbers(100000), total, seconds

  call watch%start()
  numbers = 1.5_real64
  call watch%stop(time)
  print '(a, f0.1, a, f0.1, a, f0.1)', 'filled: ', time%ns%value, ' ns, ', time%ns%low, ' to ', &
      time%ns%high

  call watch%start()
  call watch%stop(time)
  if (time%below_resolution) then
    print '(a, f0.1, a)', 'nothing: below resolution (< ', time%bound_ns, ' ns)'
  else
    print '(a, f0.1, a)', 'nothing: ', time%ns%value, ' ns'
  end if
  call watch%free()

  seconds = stop_watch('START')
  total = sum(numbers)
  seconds = stop_watch('STOP')
  print '(a, es10.3, a, f0.1)', 'summed in ', seconds, ' s: ', total
end program
