// Installs the other Node clients in a separate folder when they are first needed.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { installTools } from '../../environment/installed-tools.ts'
import { nodeClients } from '../../environment/needs.ts'

/** The file URL from which they can be required. */
export const peersFrom = pathToFileURL(join(nodeClients.directory, 'package.json')).href

export const installPeers = (): Promise<string> => installTools(nodeClients)
