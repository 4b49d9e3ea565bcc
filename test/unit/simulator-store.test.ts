import { leaseStoreSuite } from "../helpers/lease-store-suite.js";
import { LeaseTable, leaseStoreOver } from "../simulator/lease-table.js";

const table = new LeaseTable();
leaseStoreSuite("the simulator's leases in memory", () => Promise.resolve(leaseStoreOver(table)));
