# Manual pages and completions: the program writes them from its own tables.
set(pages "${CMAKE_BINARY_DIR}/pages")
file(MAKE_DIRECTORY "${pages}")
add_custom_command(OUTPUT "${pages}/qkscope.1" VERBATIM COMMENT "Writing manual and completions"
                   COMMAND qkscope pages "${pages}" DEPENDS qkscope)
add_custom_target(qkscope_pages ALL DEPENDS "${pages}/qkscope.1")

install(DIRECTORY "${pages}/" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" FILES_MATCHING
        PATTERN "*.1")
install(FILES "${pages}/qkscope.bash" RENAME qkscope
        DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
install(FILES "${pages}/_qkscope" DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions")
