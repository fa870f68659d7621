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
    qkscope_test(cli/${name} "QKSCOPE=$<TARGET_FILE:qkscope>" "QKSCOPE_SCRATCH=${scratch}")
endforeach()
