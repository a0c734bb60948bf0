!> Hairspring in Fortran: a stopwatch, benchmarks of procedures, and the fit of a table of
!> observations. Fortran 2018, by iso_c_binding; a thin layer over the engine's C ABI.
!>
!>   gfortran -O2 hairspring.f90 program.f90 $(pkg-config --libs hairspring)
!>
!> Compile both with the same options: a finding says where this module was compiled without
!> optimisation.
!>
!> Fortran cannot repeat code in place, so a benchmark is a procedure, and its copies are calls that
!> the library makes one after the other. The time of the call is part of every result; an empty
!> procedure, added with `alternative=.true.`, shows how long that is.
module hairspring
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: compiler_options, compiler_version, error_unit, int64, &
      real64
  implicit none
  private

  public :: estimate, span_time, stopwatch, stop_watch, benchmarks, component, fit_csv, body, &
      body_of_argument

  !> A value with its confidence interval.
  type, bind(c) :: estimate
    real(c_double) :: value = 0, low = 0, high = 0, level = 0
  end type

  !> A span of time. Never clamped: a span shorter than the overhead's spread may be below zero;
  !> then `below_resolution` is true, and `bound_ns` is its upper bound.
  type :: span_time
    type(estimate) :: ns
    logical :: below_resolution = .false.
    real(real64) :: bound_ns = 0
  end type

  !> A raw reading of the library's stopwatch.
  type, bind(c) :: c_span
    integer(c_size_t) :: size
    integer(c_int64_t) :: ticks
    integer(c_int32_t) :: pairs
  end type

  !> A stopwatch that subtracts its own overhead, which it measures at its first start; that takes
  !> 10 to 70 ms. `status` is 0 on success; without it, an error ends the program with its text.
  type :: stopwatch
    private
    type(c_ptr) :: handle = c_null_ptr
    type(c_span) :: span = c_span(0, 0, 0)
  contains
    procedure :: start => stopwatch_start
    procedure :: stop => stopwatch_stop
    procedure :: seconds => stopwatch_seconds
    procedure :: free => stopwatch_free
  end type

  abstract interface
    !> Code to be timed.
    subroutine body() bind(c)
    end subroutine

    !> Code to be timed with an argument.
    subroutine body_of_argument(argument) bind(c)
      import :: c_int64_t
      integer(c_int64_t), intent(in) :: argument
    end subroutine
  end interface

  !> One benchmark.
  type :: declared
    character(kind=c_char), allocatable :: name(:), argument_name(:)
    type(c_funptr) :: procedure = c_null_funptr, init = c_null_funptr, setup = c_null_funptr
    integer(c_int64_t) :: argument = 0
    logical :: alternative = .false.
  end type

  !> The benchmarks of a program.
  type :: benchmarks
    private
    type(declared), allocatable :: all(:)
  contains
    procedure :: add => benchmarks_add
    procedure :: add_with_argument => benchmarks_add_with_argument
    procedure :: run => benchmarks_run
    procedure :: main => benchmarks_main
  end type

  !> The time of a component of a series.
  type :: component
    character(:), allocatable :: series, name
    type(estimate) :: ticks, ns, cycles
    logical :: is_overhead = .false., below_resolution = .false.
    real(real64) :: bound = 0
  end type


  ! ---- the C ABI ---------------------------------------------------------------------------------

  type, bind(c) :: c_elapsed
    integer(c_size_t) :: size
    type(estimate) :: ns
    integer(c_int32_t) :: below_resolution
    real(c_double) :: bound_ns, overhead_ticks, overhead_sd_ticks
  end type

  type, bind(c) :: c_procedure
    type(c_ptr) :: name, argument_name
    integer(c_int64_t) :: argument
    type(c_funptr) :: procedure, init, setup
    type(c_ptr) :: context
    integer(c_int32_t) :: alternative
    integer(c_int64_t) :: unoptimised
  end type

  type, bind(c) :: c_component
    integer(c_size_t) :: size
    type(c_ptr) :: series, name
    integer(c_int) :: kind
    integer(c_int32_t) :: below_resolution
    real(c_double) :: bound
    type(estimate) :: ticks, ns, cycles
  end type

  interface
    integer(c_int) function c_stopwatch_new(clock, handle) bind(c, name='hairspring_stopwatch_new')
      import :: c_int, c_ptr
      type(c_ptr), value :: clock
      type(c_ptr), intent(out) :: handle
    end function
    subroutine c_stopwatch_free(handle) bind(c, name='hairspring_stopwatch_free')
      import :: c_ptr
      type(c_ptr), value :: handle
    end subroutine
    integer(c_int) function c_stopwatch_start(handle) bind(c, name='hairspring_stopwatch_start')
      import :: c_int, c_ptr
      type(c_ptr), value :: handle
    end function
    integer(c_int) function c_stopwatch_lap(handle, span) bind(c, name='hairspring_stopwatch_lap')
      import :: c_int, c_ptr, c_span
      type(c_ptr), value :: handle
      type(c_span), intent(inout) :: span
    end function
    integer(c_int) function c_stopwatch_elapsed(handle, span, level, elapsed) bind(c, &
        name='hairspring_stopwatch_elapsed')
      import :: c_int, c_ptr, c_span, c_double, c_elapsed
      type(c_ptr), value :: handle
      type(c_span), intent(in) :: span
      real(c_double), value :: level
      type(c_elapsed), intent(inout) :: elapsed
    end function
    integer(c_int) function c_run_procedures(argc, argv, procedures, element_size, count) &
        bind(c, name='hairspring_run_procedures')
      import :: c_int, c_ptr, c_procedure, c_size_t
      integer(c_int), value :: argc
      type(c_ptr), intent(in) :: argv(*)
      type(c_procedure), intent(in) :: procedures(*)
      integer(c_size_t), value :: element_size, count
    end function
    integer(c_int) function c_read_csv(path, table) bind(c, name='hairspring_observations_read_csv')
      import :: c_int, c_char, c_ptr
      character(kind=c_char), intent(in) :: path(*)
      type(c_ptr), intent(out) :: table
    end function
    subroutine c_observations_free(table) bind(c, name='hairspring_observations_free')
      import :: c_ptr
      type(c_ptr), value :: table
    end subroutine
    integer(c_int) function c_assess(table, question, assessment) bind(c, name='hairspring_assess')
      import :: c_int, c_ptr
      type(c_ptr), value :: table, question
      type(c_ptr), intent(out) :: assessment
    end function
    subroutine c_assessment_free(assessment) bind(c, name='hairspring_assessment_free')
      import :: c_ptr
      type(c_ptr), value :: assessment
    end subroutine
    integer(c_int) function c_components(assessment, found, element_size, room, count) &
        bind(c, name='hairspring_assessment_components')
      import :: c_int, c_ptr, c_size_t, c_component
      type(c_ptr), value :: assessment
      type(c_component), intent(inout) :: found(*)
      integer(c_size_t), value :: element_size, room
      integer(c_size_t), intent(out) :: count
    end function
    integer(c_size_t) function c_last_error(buffer, room) bind(c, name='hairspring_last_error')
      import :: c_size_t, c_char
      character(kind=c_char), intent(inout) :: buffer(*)
      integer(c_size_t), value :: room
    end function
    integer(c_size_t) function c_strlen(text) bind(c, name='strlen')
      import :: c_size_t, c_ptr
      type(c_ptr), value :: text
    end function
  end interface

contains

  ! ---- the stopwatch -----------------------------------------------------------------------------

  !> Starts or restarts.
  subroutine stopwatch_start(self, status)
    class(stopwatch), intent(inout) :: self
    integer, intent(out), optional :: status
    integer :: failed

    failed = 0
    if (.not. c_associated(self%handle)) failed = c_stopwatch_new(c_null_ptr, self%handle)
    call report(failed, status)
    if (failed /= 0) return
    self%span = c_span(c_sizeof(self%span), 0, 0)
    ! The clock is read at the end of this call, because code after the read would add to the time.
    failed = c_stopwatch_start(self%handle)
    if (failed /= 0) call report(failed, status)
  end subroutine

  !> The time since the start or the previous stop; the watch continues.
  subroutine stopwatch_stop(self, time, status)
    class(stopwatch), intent(inout) :: self
    type(span_time), intent(out) :: time
    integer, intent(out), optional :: status
    type(c_elapsed) :: found
    integer :: failed

    ! The clock is read at the beginning of this call.
    failed = c_stopwatch_lap(self%handle, self%span)
    if (failed == 0) then
      found%size = c_sizeof(found)
      failed = c_stopwatch_elapsed(self%handle, self%span, 0.95_c_double, found)
    end if
    if (failed == 0) time = span_time(found%ns, found%below_resolution /= 0, found%bound_ns)
    call report(failed, status)
  end subroutine

  !> The seconds since the start or the previous stop: `stop` without the interval.
  function stopwatch_seconds(self) result(seconds)
    class(stopwatch), intent(inout) :: self
    real(real64) :: seconds
    type(span_time) :: time

    call self%stop(time)
    seconds = 1e-9_real64 * time%ns%value
  end function

  !> Frees the stopwatch.
  subroutine stopwatch_free(self)
    class(stopwatch), intent(inout) :: self

    call c_stopwatch_free(self%handle)
    self%handle = c_null_ptr
  end subroutine

  !> The routine of the wrapper in "A precise timing routine" (StopWatch, Fig. 4): 'START' begins
  !> and returns 0, 'STOP' returns the seconds since then, or since the 'STOP' before. One watch for
  !> the whole program. Never set to zero where the overhead is longer than the span.
  function stop_watch(event) result(seconds)
    character(*), intent(in) :: event
    real(real64) :: seconds
    type(stopwatch), save :: watch

    seconds = 0
    select case (event)
    case ('START', 'start')
      call watch%start()
    case ('STOP', 'stop')
      seconds = watch%seconds()
    case default
      write (error_unit, '(3a)') 'hairspring: stop_watch knows START and STOP, not `', event, '`'
      error stop 1
    end select
  end function

  ! ---- benchmarks --------------------------------------------------------------------------------

  !> Adds a benchmark of a procedure. `init` runs before every call, as a separate component;
  !> `setup` runs once before all. An alternative runs in the same rounds as the benchmark before
  !> it, and is compared with that.
  subroutine benchmarks_add(self, name, code, init, setup, alternative)
    class(benchmarks), intent(inout) :: self
    character(*), intent(in) :: name
    procedure(body) :: code
    procedure(body), optional :: init, setup
    logical, intent(in), optional :: alternative
    type(declared) :: one

    one%name = c_text(name)
    one%procedure = c_funloc(code)
    if (present(init)) one%init = c_funloc(init)
    if (present(setup)) one%setup = c_funloc(setup)
    if (present(alternative)) one%alternative = alternative
    call append(self, one)
  end subroutine

  !> Adds a benchmark once for each value of an argument; its results are named
  !> `name/argument_name:value`.
  subroutine benchmarks_add_with_argument(self, name, argument_name, arguments, code, init, setup)
    class(benchmarks), intent(inout) :: self
    character(*), intent(in) :: name, argument_name
    integer, intent(in) :: arguments(:)
    procedure(body_of_argument) :: code
    procedure(body_of_argument), optional :: init, setup
    type(declared) :: one
    integer :: at

    one%name = c_text(name)
    one%argument_name = c_text(argument_name)
    one%procedure = c_funloc(code)
    if (present(init)) one%init = c_funloc(init)
    if (present(setup)) one%setup = c_funloc(setup)
    do at = 1, size(arguments)
      one%argument = arguments(at)
      call append(self, one)
    end do
  end subroutine

  subroutine append(self, one)
    type(benchmarks), intent(inout) :: self
    type(declared), intent(in) :: one

    type(declared), allocatable :: longer(:)
    integer :: count

    count = 0
    if (allocated(self%all)) count = size(self%all)
    allocate (longer(count + 1))
    if (count > 0) longer(:count) = self%all
    longer(count + 1) = one
    call move_alloc(longer, self%all)
  end subroutine

  !> Reads the command line (see --help), measures and prints; returns the exit status.
  function benchmarks_run(self) result(status)
    class(benchmarks), intent(inout), target :: self
    integer :: status
    type(c_procedure), allocatable :: entries(:)
    character(kind=c_char), allocatable, target :: words(:, :)
    type(c_ptr), allocatable :: argv(:)
    integer :: at

    if (.not. allocated(self%all)) allocate (self%all(0))
    allocate (entries(size(self%all)))
    do at = 1, size(self%all)
      entries(at) = entry_of(self%all(at))
    end do
    call command_line(words, argv)
    status = c_run_procedures(size(argv, kind=c_int), argv, entries, c_sizeof(blank_entry()), &
        size(entries, kind=c_size_t))
  end function

  !> Runs the program, and ends it with its status.
  subroutine benchmarks_main(self)
    class(benchmarks), intent(inout), target :: self
    integer :: status

    status = self%run()
    if (status /= 0) stop status, quiet=.true.
  end subroutine

  function blank_entry() result(blank)
    type(c_procedure) :: blank

    blank = c_procedure(c_null_ptr, c_null_ptr, 0, c_null_funptr, c_null_funptr, c_null_funptr, &
        c_null_ptr, 0, 0)
  end function

  function entry_of(one) result(entry)
    type(declared), intent(in), target :: one
    type(c_procedure) :: entry

    entry = blank_entry()
    entry%name = c_loc(one%name)
    if (allocated(one%argument_name)) entry%argument_name = c_loc(one%argument_name)
    entry%argument = one%argument
    entry%procedure = one%procedure
    entry%init = one%init
    entry%setup = one%setup
    entry%context = c_loc(one%argument)
    entry%alternative = merge(1, 0, one%alternative)
    entry%unoptimised = merge(1, 0, is_unoptimised(compiler_options()))
  end function

  !> Whether gfortran's options name no level of optimisation, or end with -O0. Other compilers are
  !> not known.
  pure function is_unoptimised(options) result(unoptimised)
    character(*), intent(in) :: options
    logical :: unoptimised
    integer :: at

    at = index(' ' // options, ' -O', back=.true.)
    unoptimised = index(compiler_version(), 'GCC') == 1
    if (at > 0) unoptimised = unoptimised .and. index(options(at:), '-O0') == 1
  end function

  !> The program's name and arguments as C strings: one column of `words` for each, and pointers to
  !> them.
  subroutine command_line(words, argv)
    character(kind=c_char), allocatable, target, intent(out) :: words(:, :)
    type(c_ptr), allocatable, intent(out) :: argv(:)
    character(:), allocatable :: word
    integer :: at, length, longest

    longest = 0
    do at = 0, command_argument_count()
      call get_command_argument(at, length=length)
      longest = max(longest, length)
    end do
    allocate (words(longest + 1, 0:command_argument_count()), argv(0:command_argument_count()))
    do at = 0, command_argument_count()
      call get_command_argument(at, length=length)
      allocate (character(length) :: word)
      call get_command_argument(at, word)
      words(:length + 1, at) = c_text(word)
      argv(at) = c_loc(words(1, at))
      deallocate (word)
    end do
  end subroutine

  ! ---- a table of observations -------------------------------------------------------------------

  !> Reads a table of observations and solves it: every component of every series, with the
  !> overhead. `status` as for the stopwatch.
  subroutine fit_csv(path, found, status)
    character(*), intent(in) :: path
    type(component), allocatable, intent(out) :: found(:)
    integer, intent(out), optional :: status
    type(c_ptr) :: table, assessment
    integer :: failed

    failed = c_read_csv(c_text(path), table)
    if (failed == 0) then
      failed = c_assess(table, c_null_ptr, assessment)
      if (failed == 0) then
        call components_of(assessment, found, failed)
        call c_assessment_free(assessment)
      end if
      call c_observations_free(table)
    end if
    if (.not. allocated(found)) allocate (found(0))
    call report(failed, status)
  end subroutine

  subroutine components_of(assessment, found, failed)
    type(c_ptr), intent(in) :: assessment
    type(component), allocatable, intent(inout) :: found(:)
    integer, intent(out) :: failed
    type(c_component), allocatable :: raw(:)
    type(c_component) :: none(1)
    integer(c_size_t) :: count, room
    integer :: at

    count = 0
    failed = c_components(assessment, none, c_sizeof(none(1)), 0_c_size_t, count)
    if (failed /= 0) return
    room = count
    allocate (raw(room))
    failed = c_components(assessment, raw, c_sizeof(none(1)), room, count)
    if (failed /= 0) return
    allocate (found(count))
    do at = 1, int(count)
      found(at)%series = fortran_text(raw(at)%series)
      found(at)%name = fortran_text(raw(at)%name)
      found(at)%ticks = raw(at)%ticks
      found(at)%ns = raw(at)%ns
      found(at)%cycles = raw(at)%cycles
      found(at)%is_overhead = raw(at)%kind /= 0
      found(at)%below_resolution = raw(at)%below_resolution /= 0
      found(at)%bound = raw(at)%bound
    end do
  end subroutine

  ! ---- texts and errors --------------------------------------------------------------------------

  !> The text as a C string: without trailing blanks, and terminated by a 0.
  pure function c_text(text) result(letters)
    character(*), intent(in) :: text
    character(kind=c_char) :: letters(len_trim(text) + 1)
    integer :: at

    do at = 1, len_trim(text)
      letters(at) = text(at:at)
    end do
    letters(size(letters)) = c_null_char
  end function

  function fortran_text(from) result(text)
    type(c_ptr), intent(in) :: from
    character(:), allocatable :: text
    character(kind=c_char), pointer :: letters(:)
    integer :: at

    call c_f_pointer(from, letters, [c_strlen(from)])
    text = repeat(' ', size(letters))
    do at = 1, size(letters)
      text(at:at) = letters(at)
    end do
  end function

  !> Returns the status if the caller asked for it, or ends the program with the text of the error.
  subroutine report(failed, status)
    integer, intent(in) :: failed
    integer, intent(out), optional :: status
    character(kind=c_char) :: buffer(400)
    integer :: length

    if (present(status)) then
      status = failed
    else if (failed /= 0) then
      length = int(min(c_last_error(buffer, size(buffer, kind=c_size_t)), &
          size(buffer, kind=c_size_t) - 1))
      write (error_unit, '(401a)') 'hairspring: ', buffer(:length)
      error stop 1
    end if
  end subroutine
end module
