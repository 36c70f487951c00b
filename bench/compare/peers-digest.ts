// The part of a result of the peers that is compared. Pure.
import { list } from '../output/figures.ts'
import type { LibraryName } from '../peers/libraries.ts'
import type { PeersResult } from '../peers/result.ts'
import { conditionsOn, type Digest } from './digest.ts'

export function peersDigest({ what, date, commandLine, machine, server, libraries, cells }: PeersResult): Digest {
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
