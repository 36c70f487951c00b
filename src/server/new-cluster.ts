// Creates the servers behind `Server.start()`: one, or an ensemble, with the state of the option `dataFile`.
import { badArguments } from '../protocol/index.ts'
import type { Cluster } from './cluster.ts'
import { readData } from './data-file.ts'
import { Ensemble } from './ensemble.ts'
import type { Settings } from './options.ts'
import { Standalone } from './standalone.ts'

const create = (settings: Settings, state?: string): Cluster =>
  settings.servers > 1 ? new Ensemble(settings, state) : new Standalone(settings, state)

/** Returns servers with the state of their file, if there is one. Does not wait if no file is given. */
export function clusterOf(settings: Settings): Cluster | Promise<Cluster> {
  const { dataFile } = settings
  if (dataFile === undefined) return create(settings)
  return readData(dataFile).then(state => {
    try {
      return create(settings, state)
    } catch (error) {
      throw badArguments('Server.start', '', `${dataFile} is not a state of this server: ${(error as Error).message}`)
    }
  })
}
