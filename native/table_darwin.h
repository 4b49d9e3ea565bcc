// The process table of macOS as rows, with what the kernel noted at each fork.
#pragma once

#include <vector>

#include "lineage.h"
#include "process.h"

namespace acpx {

// Everybody, zombies too. Rows are read one after the other, so none of them is proof.
Result<std::vector<TableRow>> readTable();
// Those of the children of one process that are there at this moment.
std::vector<TableRow> readChildren(pid_t parent);

}  // namespace acpx
