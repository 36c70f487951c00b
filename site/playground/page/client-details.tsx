import { describeClient, lookOf, seconds } from '../model/words.ts'
import type { Props } from './props.ts'
import { Facts } from './facts.tsx'

/** A client: its session, requests, watches, and what its program saw. */
export function ClientDetails({ playground, id }: Props & { id: number }) {
  const client = playground.picture.clients.find(each => each.id === id)
  if (client === undefined) return <p class="faint">Client {id} is not here at this moment.</p>
  const { session, server, lease, node, token, requests, watches, journal, stoppedUntil, unpluggedUntil } = client
  return (
    <>
      <h3>{describeClient(client)}</h3>
      {session !== undefined && lease.of > 0 && (
        <label class="lease-bar">
          <span>lease: {seconds(lease.left)} left</span>
          <meter min={0} max={lease.of} low={lease.of / 3} value={lease.left}>
            {seconds(lease.left)}
          </meter>
        </label>
      )}
      <Facts
        facts={[
          ['address', client.address],
          ['state', lookOf(client)],
          ['session', session],
          ['server', server],
          ['own node', node],
          ['token', token],
          ['stopped until', stoppedUntil === undefined ? undefined : seconds(stoppedUntil)],
          ['unplugged until', unpluggedUntil === undefined ? undefined : seconds(unpluggedUntil)],
        ]}
      />
      <h4>Requests without an answer</h4>
      {requests.length === 0 && <p class="faint">none</p>}
      <ul class="links">
        {requests.map(n => (
          <li key={n}>
            <button type="button" class="link" onClick={() => playground.select({ kind: 'frame', n })}>
              frame {n}, {playground.frames[n - 1]?.op}
            </button>
          </li>
        ))}
      </ul>
      <h4>Watches</h4>
      {watches.length === 0 && <p class="faint">none</p>}
      <ul class="links">
        {watches.map(({ path, kind }) => (
          <li key={path + kind}>
            <button type="button" class="link" onClick={() => playground.select({ kind: 'node', path })}>
              {path}
            </button>{' '}
            <span class="faint">{kind}</span>
          </li>
        ))}
      </ul>
      <h4>{playground.capture === undefined ? 'What its program saw' : 'What the file says of it'}, the last first</h4>
      <ol class="log" tabIndex={0} aria-label={`Journal of client ${id}`} data-keys>
        {journal.toReversed().map(({ at, kind, text }, i) => (
          <li key={i} class={kind === 'error' ? 'bad' : ''}>
            <time>{seconds(at)}</time> {text}
          </li>
        ))}
      </ol>
    </>
  )
}
