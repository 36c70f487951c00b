// What is compared of two results of the peers. Pure.
import { conditionsOn, type Comparable } from '../output/comparable.ts'
import { list } from '../output/figures.ts'
import type { LibraryName } from './libraries.ts'
import type { PeersResult } from './result.ts'

export function comparablePeers({
  what,
  date,
  commandLine,
  machine,
  server,
  libraries,
  cells,
}: PeersResult): Comparable {
  return {
    ...{ what, date, commandLine },
    conditions: conditionsOn(
      machine,
      `Apache ZooKeeper ${server.version}`,
      libraries.find(isOurs)?.version,
      list(libraries.filter(each => !isOurs(each)).map(({ name, version = 'missing' }) => `${name} ${version}`)),
    ),
    scenarios: libraries.flatMap(({ recipes }) => recipes.map(({ id }) => id)),
    sizes: cells.map(({ size }) => size),
    cells: cells.map(({ recipe, size, isConstant, phases }) => ({
      ...{ scenario: recipe, size, isConstant },
      phases: Object.entries(phases).map(([phase, { tally, ms, clientCpuMs }]) => ({
        phase,
        counts: {
          notifications: tally.notifications,
          frames: tally.framesSent + tally.framesReceived,
          bytes: tally.bytesSent + tally.bytesReceived,
        },
        ...{ bytesRead: tally.bytesReceived, p50: ms, clientCpuMs },
      })),
    })),
  }
}

const isOurs = ({ name }: { name: LibraryName }): boolean => name === 'zkwire'
