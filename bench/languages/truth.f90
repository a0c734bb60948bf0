!> The calls of the truth table in Fortran: a procedure is always called, and there is no assembly.
module work
  implicit none

  interface
    subroutine work_nothing() bind(c)
    end subroutine
    subroutine work_fill() bind(c)
    end subroutine
    subroutine work_sort() bind(c)
    end subroutine
    subroutine work_network() bind(c)
    end subroutine
    subroutine work_chain_300() bind(c)
    end subroutine
  end interface
end module

program truth
  use hairspring, only: benchmarks
  use work
  implicit none
  type(benchmarks) :: all

  call all%add('call_empty', work_nothing)
  call all%add('call_chain_300', work_chain_300)
  call all%add('sort_16', work_sort, init=work_fill)
  call all%add('network_16', work_network, init=work_fill)
  call all%main()
end program
