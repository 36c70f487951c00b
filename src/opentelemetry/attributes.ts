// The attributes of spans and metrics. Names that begin with db, error or server are those of OpenTelemetry's semantic
// conventions for database clients.
import type { Attributes } from '@opentelemetry/api'
import { ZooKeeperError } from '../protocol/index.ts'
import type { ConnectMessage, RequestMessage } from '../client/index.ts'
import type { AcquireMessage, ReleaseMessage } from '../recipes/index.ts'

export const callAttributes = (op: string): Attributes => ({ 'db.system.name': 'zookeeper', 'db.operation.name': op })

/** What is known about a call when it is settled. */
export function outcomeAttributes(
  { error }: Pick<RequestMessage, 'error'>,
  address: ConnectMessage['address'] | undefined,
): Attributes {
  return {
    ...(address && { 'server.address': address.host, 'server.port': address.port }),
    ...errorAttributes(error),
    ...(error instanceof ZooKeeperError && { 'zkwire.fate': error.fate }),
  }
}

export const acquireAttributes = ({ lock, held, error }: AcquireMessage): Attributes => ({
  'zkwire.lock.path': lock,
  'zkwire.lock.outcome': held !== null ? 'held' : error === undefined ? 'taken' : 'failed',
  ...errorAttributes(error),
})

/** The type of the error is the cause of the loss, because each loss is a RecipeError LOST. */
export const releaseAttributes = ({ lock, error }: ReleaseMessage): Attributes => ({
  'zkwire.lock.path': lock,
  'zkwire.lock.outcome': error === undefined ? 'released' : 'lost',
  ...errorAttributes((error as Error | undefined)?.cause ?? error),
})

/** Few different values: the code of an error of this package, or the name of the class. */
function errorAttributes(error: unknown): Attributes {
  if (error === undefined) return {}
  const { code, name } = Object(error) as { code?: unknown; name?: unknown }
  const type = [code, name].find(each => typeof each === 'string') ?? '_OTHER'
  return { 'error.type': type }
}
