import type { ClientPicture, StoreWrite } from '../../world/picture.ts'
import type { WriteProtection } from '../../world/story.ts'
import { seconds } from '../model/words.ts'
import type { Props } from './props.ts'

const PROTECTIONS: Readonly<Record<WriteProtection, string>> = {
  nothing: 'Write unprotected',
  token: 'Write with its token',
  'registered token': 'Register its token, then write',
  guard: 'Write with guard()',
}

/** Lets a holder write to what the lock protects, and shows what the store outside ZooKeeper did. */
export function WriteForm({ playground, client }: Props & { client: ClientPicture }) {
  const { store } = playground.picture
  if (client.token === undefined && store.writes.length === 0) return null
  return (
    <div class="writes">
      <h3>What the lock protects</h3>
      <div class="buttons many" role="group" aria-label={`Writes of client ${client.id}`}>
        {Object.entries(PROTECTIONS).map(([protection, title]) => (
          <button
            key={protection}
            type="button"
            disabled={client.token === undefined || client.process !== 'running'}
            data-command={`write ${protection}`}
            onClick={() =>
              void playground.act({ kind: 'write', client: client.id, protection: protection as WriteProtection })
            }
          >
            {title}
          </button>
        ))}
      </div>
      {store.writes.length > 0 && (
        <ol class="log">
          {store.writes.map((write, i) => (
            <li key={i} class={write.isAccepted && write.isLate ? 'bad' : ''}>
              {sentenceOf(write)}
            </li>
          ))}
        </ol>
      )}
    </div>
  )
}

function sentenceOf({ kind, at, client, token, isAccepted, isLate }: StoreWrite): string {
  const writes = `writes ${token === undefined ? 'without a token' : `with token ${token}`}`
  const what = `client ${client} ${kind === 'write' ? writes : `registers token ${token ?? ''}`}`
  const outcome = isAccepted ? (isLate ? 'accepted, although it no longer held the lock' : 'accepted') : 'refused'
  return `${seconds(at)} ${what}: ${outcome}`
}
