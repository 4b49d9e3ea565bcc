{
  # Each platform's own files implement native/process.h, native/lock.h and native/supervisor_*.h; the others are
  # never compiled.
  "variables": {
    "supervisor_common": [
      "native/decode.cc",
      "native/supervisor.cc",
      "native/supervisor_adapter.cc",
      "native/supervisor_claim.cc",
      "native/supervisor_parent.cc",
      "native/supervisor_signals.cc",
      "native/supervisor_tree.cc",
    ],
    "conditions": [
      ["OS=='linux'", {
        "process_sources": [
          "native/posix.cc",
          "native/process_linux.cc",
          "native/reading_linux.cc",
          "native/procfs_linux.cc",
          "native/backend_linux.cc",
          "native/table_linux.cc",
        ],
        "lock_sources": ["native/lock_posix.cc", "native/lock_linux.cc"],
        "supervisor_sources": [
          "native/supervisor_descendants_linux.cc",
          "native/supervisor_kernel_linux.cc",
          "native/supervisor_runtime_linux.cc",
          "native/supervisor_tree_linux.cc",
        ],
        # A static image starts faster and keeps less memory, but not every toolchain has a static libc.
        "static_libc": "<!(echo 'int main() {}' | ${CXX:-c++} -static -x c++ -o /dev/null - 2>/dev/null && echo 1 || echo 0)",
      }],
      ["OS=='mac'", {
        "process_sources": [
          "native/posix.cc",
          "native/process_darwin.cc",
          "native/reading_darwin.cc",
          "native/kernel_darwin.cc",
          "native/backend_darwin.cc",
          "native/table_darwin.cc",
        ],
        "lock_sources": ["native/lock_posix.cc", "native/lock_darwin.cc"],
        "supervisor_sources": [
          "native/lineage.cc",
          "native/supervisor_kernel_darwin.cc",
          "native/supervisor_tree_darwin.cc",
        ],
        "static_libc": 0,
      }],
      ["OS!='linux' and OS!='mac'", {
        "process_sources": ["native/process_unsupported.cc"],
        "lock_sources": [],
        "supervisor_sources": [],
        "static_libc": 0,
      }],
    ],
  },
  "target_defaults": {
    "cflags": ["-Wall", "-Wextra"],
    "cflags_cc!": ["-std=gnu++17", "-std=gnu++20"],
    "cflags_cc": ["-std=c++17", "-fno-exceptions", "-fno-rtti", "-fvisibility=hidden"],
    "xcode_settings": {
      "CLANG_CXX_LANGUAGE_STANDARD": "c++17",
      "CLANG_CXX_LIBRARY": "libc++",
      "DEAD_CODE_STRIPPING": "YES",
      "GCC_ENABLE_CPP_EXCEPTIONS": "NO",
      "GCC_SYMBOLS_PRIVATE_EXTERN": "YES",
      "MACOSX_DEPLOYMENT_TARGET": "11.0",
    },
    "msvs_settings": { "VCCLCompilerTool": { "AdditionalOptions": ["/std:c++17"] } },
  },
  "targets": [
    {
      "target_name": "acpx_lifecycle",
      "sources": [
        "native/addon.cc",
        "native/addon_exit.cc",
        "native/addon_values.cc",
        "native/decode.cc",
        "<@(process_sources)",
        "<@(lock_sources)",
      ],
      "include_dirs": ["<!(node -p \"require('node-addon-api').include_dir\")"],
      "defines": [
        "NAPI_VERSION=8",
        "NAPI_DISABLE_CPP_EXCEPTIONS",
        "NODE_ADDON_API_DISABLE_DEPRECATED",
        # While an environment is torn down nobody is left to throw at.
        "NODE_API_SWALLOW_UNTHROWABLE_EXCEPTIONS",
      ],
      "conditions": [
        ["OS=='linux'", {
          # Loads where there is no libstdc++, and exports nothing that another addon's copy could be mixed with.
          "ldflags": ["-static-libstdc++", "-static-libgcc", "-Wl,-z,now", "-Wl,--version-script=../native/addon.map"],
        }],
      ],
    },
  ],
  "conditions": [
    ["OS=='linux' or OS=='mac'", {
      "targets": [
        {
          "target_name": "acpx_supervisor",
          "type": "executable",
          "sources": ["<@(supervisor_common)", "<@(supervisor_sources)", "<@(process_sources)"],
          "cflags": ["-ffunction-sections", "-fdata-sections", "-fno-asynchronous-unwind-tables"],
          "configurations": { "Release": { "cflags!": ["-O3"], "cflags": ["-Os"] } },
          "xcode_settings": { "GCC_OPTIMIZATION_LEVEL": "s" },
          "conditions": [
            ["OS=='linux'", { "ldflags!": ["-rdynamic"], "ldflags": ["-Wl,--gc-sections"] }],
            ["static_libc==1", { "ldflags": ["-static"] }],
          ],
        },
      ],
    }],
  ],
}
