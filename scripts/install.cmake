# cmake --install, and cpack -G DEB. Below share/inasim files lie as in the source tree, where the
# program finds them from (sim/engine/base/home.h): folders are fixed, the prefix is not.
set(manual ${PROJECT_BINARY_DIR}/manual)
file(MAKE_DIRECTORY ${manual})
set(pages)
function(inasim_page file)
  add_custom_command(OUTPUT ${manual}/${file} COMMAND inasim ${ARGN} > ${manual}/${file}
                     DEPENDS inasim VERBATIM)
  set(pages ${pages} ${manual}/${file} PARENT_SCOPE)
endfunction()
foreach(page IN ITEMS inasim.1 inasim-scenario.5 inasim-sweep.1)
  inasim_page(${page} manual ${page})
endforeach()
inasim_page(scenario.schema.json schema)
inasim_page(plan.schema.json schema --plan)
add_custom_target(inasim_manual ALL DEPENDS ${pages})

install(TARGETS inasim DESTINATION bin)
if(TARGET inasim-fluid)
  install(TARGETS inasim-fluid DESTINATION bin) # looked for beside inasim
endif()
if(TARGET inasim_shared)
  include(GNUInstallDirs)
  install(TARGETS inasim_shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(FILES models/library/inasim.h DESTINATION include)
  install(FILES models/library/inasim.py DESTINATION lib/python3/dist-packages)
  file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /) # the prefix may be moved
  configure_file(models/library/inasim.pc.in ${PROJECT_BINARY_DIR}/inasim.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/inasim.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
install(PROGRAMS scripts/sweep DESTINATION bin RENAME inasim-sweep)
install(DIRECTORY traces scenarios DESTINATION share/inasim)
install(DIRECTORY scripts/gnuplot scripts/report scripts/completion DESTINATION share/inasim/scripts)
install(FILES CITATION.cff DESTINATION share/inasim) # reports have it
install(FILES ${manual}/scenario.schema.json ${manual}/plan.schema.json DESTINATION share/inasim)
install(FILES ${manual}/inasim.1 ${manual}/inasim-sweep.1 DESTINATION share/man/man1)
install(FILES ${manual}/inasim-scenario.5 DESTINATION share/man/man5)
install(FILES scripts/completion/bash DESTINATION share/bash-completion/completions RENAME inasim)
foreach(folder IN ITEMS vendor-completions site-functions) # where zsh looks in /usr, in /usr/local
  install(FILES scripts/completion/zsh DESTINATION share/zsh/${folder} RENAME _inasim)
endforeach()
install(FILES scripts/completion/fish DESTINATION share/fish/vendor_completions.d RENAME inasim.fish)
# All pages, so that their links lead somewhere.
install(FILES README.md CHANGELOG.md CITATION.cff CONTRIBUTING.md DESTINATION share/doc/inasim)
install(FILES results/README.md DESTINATION share/doc/inasim/results)
install(DIRECTORY models scenarios scripts sim tests traces DESTINATION share/doc/inasim
        FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN fuzz EXCLUDE)
install(FILES LICENSE DESTINATION share/doc/inasim RENAME copyright)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_CONTACT "the authors of inasim")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "gnuplot-nox | gnuplot, parallel, jq") # figures; inasim-sweep
include(CPack)
