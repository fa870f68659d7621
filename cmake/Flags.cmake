# How the project's own code is compiled and linked: target qkscope_flags.
# No -ffast-math: these are statistics. -std=c11 also keeps GCC from fusing a*b+c on its own.
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_FLAGS_RELEASE "-O3 -g") # without NDEBUG: an assertion that is worth writing stays
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
include(CheckPIESupported)
check_pie_supported(LANGUAGES C)

add_library(qkscope_flags INTERFACE)
target_compile_definitions(qkscope_flags INTERFACE _GNU_SOURCE QKS_VERSION="${PROJECT_VERSION}")
target_compile_options(qkscope_flags INTERFACE -Wall -Wextra -Wpedantic
                       $<$<BOOL:${QKSCOPE_WERROR}>:-Werror>
                       $<$<BOOL:${QKSCOPE_MARCH}>:-march=${QKSCOPE_MARCH}>)
target_link_options(qkscope_dependencies INTERFACE LINKER:--as-needed)

if(QKSCOPE_SANITIZE)
    # -O1 keeps stack traces readable and the tests quick.
    set(CMAKE_C_FLAGS_RELEASE "-O1 -g")
    target_compile_options(qkscope_flags INTERFACE -fsanitize=${QKSCOPE_SANITIZE}
                           -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(qkscope_dependencies INTERFACE -fsanitize=${QKSCOPE_SANITIZE})
    if(QKSCOPE_FUZZ)
        target_compile_options(qkscope_flags INTERFACE -fsanitize=fuzzer-no-link)
    endif()
else()
    target_compile_options(qkscope_flags INTERFACE -fstack-protector-strong
                           -fstack-clash-protection
                           $<$<CONFIG:Release>:-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2>)
    target_link_options(qkscope_flags INTERFACE LINKER:-z,relro LINKER:-z,now)
endif()
