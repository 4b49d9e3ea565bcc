{
  # Each platform's own files implement native/process.h and native/lock.h; the others are never compiled.
  "variables": {
    "conditions": [
      ["OS=='linux'", {
        "process_sources": [
          "native/process_linux.cc",
          "native/reading_linux.cc",
          "native/procfs_linux.cc",
          "native/backend_linux.cc",
          "native/table_linux.cc",
        ],
        "lock_sources": ["native/lock_linux.cc"],
        # A static image starts faster and keeps less memory, but not every toolchain has a static libc.
        "static_libc": "<!(echo 'int main() {}' | ${CXX:-c++} -static -x c++ -o /dev/null - 2>/dev/null && echo 1 || echo 0)",
      }, {
        "process_sources": ["native/process_unsupported.cc"],
        "lock_sources": [],
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
    ["OS=='linux'", {
      "targets": [
        {
          "target_name": "acpx_supervisor",
          "type": "executable",
          "sources": ["<!@(ls native/supervisor*.cc)", "native/decode.cc", "<@(process_sources)"],
          "cflags": ["-ffunction-sections", "-fdata-sections", "-fno-asynchronous-unwind-tables"],
          "ldflags!": ["-rdynamic"],
          "ldflags": ["-Wl,--gc-sections"],
          "configurations": { "Release": { "cflags!": ["-O3"], "cflags": ["-Os"] } },
          "conditions": [["static_libc==1", { "ldflags": ["-static"] }]],
        },
      ],
    }],
  ],
}
