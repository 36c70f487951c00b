import { useState } from 'preact/hooks'
import type { ClientPicture } from '../../world/picture.ts'
import { choicesOf, describeClient, holds } from '../model/words.ts'
import type { Props } from './props.ts'
import { CallForm } from './call-form.tsx'
import { WriteForm } from './write-form.tsx'

/** What the reader can do to a client: the chosen one, or else the holder. */
export function Commands({ playground }: Props) {
  const [stopSeconds, setStopSeconds] = useState(15)
  const { picture, selection } = playground
  const { recipe } = picture.story.scenario
  const clients = picture.clients.filter(({ id }) => id > 0)
  const chosen =
    (selection?.kind === 'client' ? clients.find(({ id }) => id === selection.client) : undefined) ??
    clients.find(holds) ??
    clients[0]
  if (chosen === undefined) return null
  const released = clients.find(holds)
  return (
    <section class="panel commands" aria-labelledby="commands-title">
      <h2 id="commands-title">Do something</h2>
      {recipe !== 'bare-clients' && (
        <button
          type="button"
          class="main wide"
          disabled={released === undefined || released.process !== 'running'}
          onClick={() => released && void playground.act({ kind: 'release', client: released.id })}
        >
          Let the holder release{released === undefined ? '' : ` (client ${released.id})`}
        </button>
      )}
      <label class="field">
        <span>To</span>
        <select
          value={String(chosen.id)}
          onChange={event => playground.select({ kind: 'client', client: Number(event.currentTarget.value) })}
        >
          {clients.map(client => (
            <option key={client.id} value={String(client.id)}>
              {describeClient(client)}
            </option>
          ))}
        </select>
      </label>
      <ClientCommands playground={playground} client={chosen} stopSeconds={stopSeconds} />
      <label class="field slider">
        <span>
          Stop and unplug for <b>{stopSeconds} s</b>
        </span>
        <input
          type="range"
          min="1"
          max="60"
          value={stopSeconds}
          onInput={event => setStopSeconds(event.currentTarget.valueAsNumber)}
        />
      </label>
      {recipe === 'bare-clients' && <CallForm playground={playground} client={chosen} />}
      <WriteForm playground={playground} client={chosen} />
    </section>
  )
}

function ClientCommands({ playground, client, stopSeconds }: Props & { client: ClientPicture; stopSeconds: number }) {
  const { recipe } = playground.story.scenario
  return (
    <div class="buttons many" role="group" aria-label={`What to do to client ${client.id}`}>
      {choicesOf(client, recipe, stopSeconds).map(({ title, hint, command, isPossible }) => (
        <button
          key={command.kind}
          type="button"
          title={hint}
          disabled={!isPossible}
          data-command={command.kind}
          onClick={() => void playground.act(command)}
        >
          {title}
        </button>
      ))}
    </div>
  )
}
