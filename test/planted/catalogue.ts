// All planted bugs. A file of the folder bugs/ holds those of one area of src.
import { benchBugs } from './bugs/bench.ts'
import { benchFleetBugs } from './bugs/bench-fleet.ts'
import { cacheBugs } from './bugs/cache.ts'
import { cliCaptureBugs } from './bugs/cli-capture.ts'
import { cliShellBugs } from './bugs/cli-shell.ts'
import { cliBugs } from './bugs/cli.ts'
import { clientBugs } from './bugs/client.ts'
import { connectionBugs } from './bugs/connection.ts'
import { coordination } from './bugs/coordination.ts'
import { dataBugs } from './bugs/data.ts'
import { helds } from './bugs/held.ts'
import { life } from './bugs/life.ts'
import { locks } from './bugs/locks.ts'
import { membersBugs } from './bugs/members.ts'
import { node } from './bugs/node.ts'
import { peersBugs } from './bugs/peers.ts'
import { protocol } from './bugs/protocol.ts'
import { queue } from './bugs/queue.ts'
import { reentrants } from './bugs/reentrant.ts'
import { requestBugs } from './bugs/requests.ts'
import { runtime } from './bugs/runtime.ts'
import { sasl } from './bugs/sasl.ts'
import { serverControl } from './bugs/server-control.ts'
import { serverEnsemble } from './bugs/server-ensemble.ts'
import { serverFeatures } from './bugs/server-features.ts'
import { serverSessions } from './bugs/server-sessions.ts'
import { serverTree } from './bugs/server-tree.ts'
import { serverWatches } from './bugs/server-watches.ts'
import { servers } from './bugs/servers.ts'
import { supervised } from './bugs/supervise.ts'
import { ticketBugs } from './bugs/tickets.ts'
import { transport } from './bugs/transport.ts'
import { watches } from './bugs/watches.ts'
import { playgroundBugs } from './bugs/playground.ts'
import { releaseLinkBugs } from './bugs/release-links.ts'
import { worldBugs } from './bugs/world.ts'
import { lookAheadBugs } from './bugs/look-ahead.ts'
import type { PlantedBug } from './planted-bug.ts'

export const catalogue: readonly PlantedBug[] = [
  ...lookAheadBugs,
  ...benchBugs,
  ...peersBugs,
  ...benchFleetBugs,
  ...cacheBugs,
  ...cliBugs,
  ...cliCaptureBugs,
  ...cliShellBugs,
  ...life,
  ...connectionBugs,
  ...requestBugs,
  ...servers,
  ...watches,
  ...clientBugs,
  ...supervised,
  ...protocol,
  ...transport,
  ...sasl,
  ...queue,
  ...node,
  ...helds,
  ...locks,
  ...ticketBugs,
  ...reentrants,
  ...coordination,
  ...dataBugs,
  ...membersBugs,
  ...runtime,
  ...serverControl,
  ...serverEnsemble,
  ...serverFeatures,
  ...serverSessions,
  ...serverTree,
  ...serverWatches,
  ...playgroundBugs,
  ...releaseLinkBugs,
  ...worldBugs,
]
