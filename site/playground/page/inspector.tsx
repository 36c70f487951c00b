import type { Props } from './props.ts'
import { ClientDetails } from './client-details.tsx'
import { FrameDetails } from './frame-details.tsx'
import { MessageDetails } from './message-details.tsx'
import { NodeDetails } from './node-details.tsx'
import { ServerDetails } from './server-details.tsx'

/** The details of what is chosen. */
export function Inspector({ playground }: Props) {
  const { selection, picture } = playground
  return (
    <section class="panel inspector" aria-labelledby="inspector-title" data-kind={selection?.kind}>
      <h2 id="inspector-title">Look inside</h2>
      {selection === undefined && (
        <p class="faint">
          Choose a client, a server, a node, or a frame in flight or in the lanes, to see its details.
        </p>
      )}
      {selection?.kind === 'client' && <ClientDetails playground={playground} id={selection.client} />}
      {selection?.kind === 'server' && (
        <ServerDetails playground={playground} server={picture.servers.find(({ id }) => id === selection.server)} />
      )}
      {selection?.kind === 'node' && <NodeDetails playground={playground} path={selection.path} />}
      {selection?.kind === 'message' && <MessageDetails playground={playground} n={selection.n} />}
      {selection?.kind === 'frame' && <FrameDetails playground={playground} n={selection.n} />}
    </section>
  )
}
