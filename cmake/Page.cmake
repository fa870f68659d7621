# The page of `qkscope report`: src/report/page, bundled by esbuild into one file, which
# src/report/template.c takes into the program.
set(page_sources "${CMAKE_CURRENT_SOURCE_DIR}/src/report/page")
set(page_modules "${deps}/page/node_modules")
set(page_file "${CMAKE_BINARY_DIR}/page.html")

find_program(NODE node)
if(NOT NODE)
    message(FATAL_ERROR "node is missing; run scripts/setup")
endif()
foreach(package echarts esbuild)
    if(NOT EXISTS "${page_modules}/${package}/package.json")
        message(FATAL_ERROR "the page's npm package ${package} is missing; run scripts/setup")
    endif()
endforeach()

file(GLOB page_inputs CONFIGURE_DEPENDS "${page_sources}/*")
add_custom_command(OUTPUT "${page_file}" VERBATIM COMMENT "Bundling the page"
                   COMMAND "${NODE}" "${page_sources}/build.mjs" "${page_modules}" "${page_file}"
                   DEPENDS ${page_inputs})
set_source_files_properties(src/report/template.c PROPERTIES OBJECT_DEPENDS "${page_file}"
                            COMPILE_DEFINITIONS QKS_PAGE_FILE="${page_file}")
