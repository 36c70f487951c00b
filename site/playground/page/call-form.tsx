import { useState } from 'preact/hooks'
import { paths } from '../../../src/protocol/entry.ts'
import type { ClientPicture } from '../../world/picture.ts'
import { CREATE_MODES, LIMITS, type Call, type CreateMode } from '../../world/story.ts'
import { seconds } from '../model/words.ts'
import type { Props } from './props.ts'

/** Lets a bare client call an operation. */
export function CallForm({ playground, client }: Props & { client: ClientPicture }) {
  const { id } = client
  const [path, setPath] = useState('/a')
  const [data, setData] = useState('')
  const [mode, setMode] = useState<CreateMode>('persistent')
  const [watch, setWatch] = useState(true)
  const calls: [title: string, call: Call][] = [
    ['create', { op: 'create', path, data, mode }],
    ['get', { op: 'get', path, watch }],
    ['exists', { op: 'exists', path, watch }],
    ['children', { op: 'children', path, watch }],
    ['set', { op: 'set', path, data }],
    ['delete', { op: 'delete', path }],
    ['sync', { op: 'sync', path }],
    ['add 1', { op: 'increment', path }],
    ['watch all below', { op: 'add watch', path, recursive: true }],
  ]
  const outcome = client.journal.findLast(({ kind }) => kind === 'result' || kind === 'error' || kind === 'event')
  const isPath = paths.pathProblem(path) === undefined
  return (
    <div class="calls">
      <h3>Let client {id} call</h3>
      <div class="pair">
        <label class="field">
          <span>Path</span>
          <input
            type="text"
            value={path}
            maxLength={LIMITS.path}
            aria-invalid={!isPath}
            onInput={event => setPath(event.currentTarget.value)}
          />
        </label>
        <label class="field">
          <span>Data</span>
          <input
            type="text"
            value={data}
            maxLength={LIMITS.data}
            onInput={event => setData(event.currentTarget.value)}
          />
        </label>
      </div>
      <div class="pair">
        <label class="field">
          <span>Mode of create</span>
          <select value={mode} onChange={event => setMode(event.currentTarget.value as CreateMode)}>
            {CREATE_MODES.map(mode => (
              <option key={mode} value={mode}>
                {mode}
              </option>
            ))}
          </select>
        </label>
        <label class="check">
          <input type="checkbox" checked={watch} onChange={event => setWatch(event.currentTarget.checked)} />
          with a watch
        </label>
      </div>
      <div class="buttons many" role="group" aria-label={`Calls of client ${id}`}>
        {calls.map(([title, call]) => (
          <button
            key={title}
            type="button"
            disabled={!isPath}
            onClick={() => void playground.act({ kind: 'call', client: id, call })}
          >
            {title}
          </button>
        ))}
      </div>
      {outcome !== undefined && (
        <p class={`outcome ${outcome.kind === 'error' ? 'bad' : ''}`} aria-live="polite">
          <time>{seconds(outcome.at)}</time> {outcome.text}
        </p>
      )}
    </div>
  )
}
