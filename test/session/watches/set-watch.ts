// Sets, cancels and removes one-shot watches in a scripted session.
import type { WatchEvent } from '../../../src/client/index.ts'
import { operations } from '../../../src/protocol/index.ts'
import { statOf, type Answer, type Received, type ScriptedConnection } from '../../support/scripted-server.ts'
import { dataReply, reconnect, type ScriptedSession } from '../../support/scripted-session.ts'
import { failureOf } from '../../support/settled.ts'

export type Read = 'getData' | 'exists' | 'getChildren'

/** Successful replies to reads of an existing node. */
export const answers: Record<Read, () => Answer> = {
  getData: () => dataReply(),
  exists: () => ({ body: { stat: statOf() } }),
  getChildren: () => ({ body: { children: [], stat: statOf() } }),
}

/** Sets a watch and answers the request. */
export async function arm(
  { client, connection }: Pick<ScriptedSession, 'client' | 'connection'>,
  read: Read,
  path: string,
  watch: (event: WatchEvent) => void,
  { signal, answer = answers[read]() }: { signal?: AbortSignal; answer?: Answer } = {},
): Promise<void> {
  const call = client[read](path, { watch, signal })
  connection.reply(await connection.next(), answer)
  await call
}

/** Starts a call that sets a watch and cancels it before its reply. Returns its request. */
export async function cancelledRead({ client, connection }: ScriptedSession, read: Read): Promise<Received> {
  const controller = new AbortController()
  const failing = failureOf(client[read]('/a', { watch: () => undefined, signal: controller.signal }))
  const setting = await connection.next()
  controller.abort()
  await failing
  return setting
}

/** Returns the bodies of the removeWatches requests. */
export const removals = (requests: readonly Received[]) =>
  requests.filter(({ op }) => op === operations.removeWatches).map(({ body }) => body)

/** Closes the connection and accepts the next one. */
export async function lose(
  all: ScriptedSession,
  connection: ScriptedSession['connection'],
): Promise<ScriptedConnection> {
  connection.close()
  return reconnect(all)
}
