import { nameOf, seconds } from '../model/words.ts'
import type { Props } from './props.ts'
import { Facts } from './facts.tsx'

/** A node: its data, its Stat, its watches and its history. */
export function NodeDetails({ playground, path }: Props & { path: string }) {
  const { servers } = playground.picture
  const isCaptured = playground.capture !== undefined
  const copies = servers.flatMap(server =>
    server.nodes.filter(node => node.path === path).map(node => ({ server, node })),
  )
  const [first] = copies
  const history = playground.historyOf(path)
  return (
    <>
      <h3 class="path">{path}</h3>
      {first === undefined && (
        <p class="faint">{isCaptured ? 'No frame so far says that it exists.' : 'It does not exist at this moment.'}</p>
      )}
      {servers.length > 1 && first !== undefined && (
        <p class="faint">On {copies.map(({ server }) => `server ${server.id}`).join(', ')}.</p>
      )}
      {first !== undefined && (
        <>
          <Facts
            facts={[
              ['kind', first.node.kind],
              ['owner', first.node.owner === undefined ? undefined : nameOf(first.node.owner)],
              ['data', first.node.text ?? `${first.node.data?.length ?? 0} bytes`],
              ['watched by', watchersOf(first.server.watches, path)],
            ]}
          />
          {!isCaptured && (
            <button
              type="button"
              data-command="delete node"
              disabled={path === '/'}
              onClick={() => void playground.act({ kind: 'delete node', path })}
            >
              Delete it by hand
            </button>
          )}
          <h4>Stat</h4>
          <Facts facts={Object.entries(first.node.stat)} />
        </>
      )}
      <h4>History</h4>
      <ol class="log" tabIndex={0} aria-label={`History of ${path}`} data-keys>
        {history.map(({ at, zxid, what, client }) => (
          <li key={zxid + what}>
            <time>{seconds(at)}</time> {what} by {client === undefined ? 'the server' : nameOf(client)}, zxid {zxid}
          </li>
        ))}
      </ol>
    </>
  )
}

function watchersOf(watches: readonly { path: string; client: number | undefined }[], path: string): string {
  const clients = watches.filter(watch => watch.path === path).map(({ client }) => client)
  if (clients.length === 0) return 'none'
  return clients.map(client => (client === undefined ? 'another session' : nameOf(client))).join(', ')
}
