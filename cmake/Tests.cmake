# Every tests/<room>/test_<name>.c is a cmocka program, the ctest test <room>/<name>.
# Every executable tests/cli/<name>.sh is the ctest test cli/<name>: it gets the program's path in
# QKSCOPE and an empty folder in QKSCOPE_SCRATCH; exit 77 means skipped.
# All run in tests/, with two threads that do not spin while they wait.
pkg_check_modules(cmocka REQUIRED QUIET IMPORTED_TARGET cmocka)
set(tests_dir "${CMAKE_CURRENT_SOURCE_DIR}/tests")
set(lsan_suppressions "${CMAKE_CURRENT_SOURCE_DIR}/cmake/lsan.supp")
set(tests_environment OMP_NUM_THREADS=2 OMP_WAIT_POLICY=passive
    "ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1"
    "LSAN_OPTIONS=suppressions=${lsan_suppressions}:print_suppressions=0"
    "UBSAN_OPTIONS=print_stacktrace=1")

function(qkscope_test name)
    set_tests_properties(${name} PROPERTIES TIMEOUT 600 SKIP_RETURN_CODE 77
                         ENVIRONMENT "${tests_environment};${ARGN}")
endfunction()

file(GLOB unit_tests CONFIGURE_DEPENDS RELATIVE "${tests_dir}" tests/*/test_*.c)
foreach(source IN LISTS unit_tests)
    string(REGEX REPLACE "^(.*)/test_(.*)\\.c$" "\\1/\\2" name "${source}")
    string(REPLACE "/" "_" target "test_${name}")
    add_executable(${target} "tests/${source}")
    target_include_directories(${target} PRIVATE src tests)
    target_link_libraries(${target} PRIVATE qkscope_core qkscope_flags PkgConfig::cmocka)
    set_target_properties(${target} PROPERTIES LINKER_LANGUAGE C
                          RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
    add_test(NAME ${name} COMMAND ${target} WORKING_DIRECTORY "${tests_dir}")
    qkscope_test(${name})
endforeach()

# Every tests/fuzz/fuzz_<name>.c is a fuzz target. With QKSCOPE_FUZZ (clang) it is a libFuzzer program,
# which scripts/fuzz runs; else the ctest test fuzz/<name> replays the inputs in tests/data/fuzz/<name>.
add_library(fuzz_common OBJECT tests/fuzz/fuzz.c)
target_link_libraries(fuzz_common PRIVATE qkscope_flags)
add_custom_target(fuzzers)
file(GLOB fuzz_targets CONFIGURE_DEPENDS tests/fuzz/fuzz_*.c)
foreach(source IN LISTS fuzz_targets)
    get_filename_component(target "${source}" NAME_WE)
    string(REPLACE fuzz_ fuzz/ name ${target})
    add_executable(${target} "${source}" $<TARGET_OBJECTS:fuzz_common>)
    target_include_directories(${target} PRIVATE src tests)
    target_link_libraries(${target} PRIVATE qkscope_core qkscope_flags)
    set_target_properties(${target} PROPERTIES LINKER_LANGUAGE C
                          RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
    add_dependencies(fuzzers ${target})
    if(QKSCOPE_FUZZ)
        target_link_options(${target} PRIVATE -fsanitize=fuzzer)
    else()
        target_sources(${target} PRIVATE tests/fuzz/replay.c)
        add_test(NAME ${name} COMMAND ${target} data/${name} WORKING_DIRECTORY "${tests_dir}")
        qkscope_test(${name})
    endif()
endforeach()

add_library(backwards MODULE tests/torture/backwards.c) # for LD_PRELOAD: a clock that goes backwards

file(GLOB scripts CONFIGURE_DEPENDS tests/cli/*.sh)
foreach(script IN LISTS scripts)
    execute_process(COMMAND test -x "${script}" RESULT_VARIABLE not_executable)
    if(not_executable OR NOT TARGET qkscope)
        continue()
    endif()
    get_filename_component(name "${script}" NAME_WE)
    set(scratch "${CMAKE_BINARY_DIR}/tests/cli/${name}")
    add_test(NAME cli/${name} WORKING_DIRECTORY "${tests_dir}"
             COMMAND sh -c "rm -rf \"$0\" && mkdir -p \"$0\" && exec \"$1\"" "${scratch}" "${script}")
    qkscope_test(cli/${name} "QKSCOPE=$<TARGET_FILE:qkscope>" "QKSCOPE_SCRATCH=${scratch}"
                 "QKSCOPE_BACKWARDS=$<TARGET_FILE:backwards>")
endforeach()

# qkscope-torture: the program with calls that can be made to fail (tests/torture). Only with
# sanitizers, which see what such a failure leaks.
if(QKSCOPE_SANITIZE AND TARGET qkscope AND NOT QKSCOPE_FUZZ)
    add_executable(qkscope-torture ${program_sources} tests/torture/faults.c)
    target_link_libraries(qkscope-torture PRIVATE qkscope_core qkscope_flags)
    set_target_properties(qkscope-torture PROPERTIES
                          RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests" LINKER_LANGUAGE C)
    foreach(call malloc calloc realloc strdup write pwrite fsync ftruncate rename renameat2 mkdir mkdtemp
            fwrite fflush tmpfile read pread fread mmap opendir readdir fstat flock pipe2 posix_spawn
            close fclose open)
        target_link_options(qkscope-torture PRIVATE LINKER:--wrap=${call})
    endforeach()
    add_test(NAME torture/sample WORKING_DIRECTORY "${tests_dir}"
             COMMAND python3 torture/torture.py $<TARGET_FILE:qkscope-torture>
                     "${CMAKE_BINARY_DIR}/tests/torture" --sample 3 analyze capture run)
    qkscope_test(torture/sample)
endif()

if(TARGET qkscope AND NOT QKSCOPE_SANITIZE)
    add_test(NAME torture/kills WORKING_DIRECTORY "${tests_dir}"
             COMMAND python3 torture/kill_loop.py $<TARGET_FILE:qkscope>
                     "${CMAKE_BINARY_DIR}/tests/kills" 10)
    qkscope_test(torture/kills)
endif()
