# `cpack -G DEB`: one package with program, libraries, headers, manual and completions. What comes from
# .deps is inside; for the rest it depends on Debian's packages, which dpkg-shlibdeps finds.
set(CPACK_PACKAGE_NAME qkscope)
set(CPACK_PACKAGE_VENDOR qkscope)
set(CPACK_PACKAGE_CONTACT "the qkscope developers <qkscope@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "where the attention heads of language models keep position")
string(CONCAT CPACK_PACKAGE_DESCRIPTION
       "qkscope runs language-model checkpoints over text, watches the queries and keys of every "
       "attention head, and shows where each head keeps position: tables, figures, and a page to "
       "explore. A program of verbs and a C library.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${deps}/lib")
set(CPACK_DEBIAN_PACKAGE_DEPENDS libopenblas0-openmp) # the build that the program looks for first
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "gnuplot-nox, fontconfig, fonts-dejavu-core, openmpi-bin")
include(CPack)
