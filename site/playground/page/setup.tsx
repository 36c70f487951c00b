import { useEffect, useState } from 'preact/hooks'
import { ENSEMBLES, LIMITS, RECIPES, type RecipeId, type Scenario } from '../../world/story.ts'
import type { Props } from './props.ts'

const LARGEST_SEED = 2 ** 32 - 1

/** Chooses the scenario. Each change starts it again, except while the reader moves the slider or types. */
export function Setup({ playground }: Props) {
  const { scenario } = playground.story
  const { recipe, clients, servers, seed } = scenario
  const shownScenario = [recipe, clients, servers, seed].join()
  // What the reader has not started yet. It ends with its scenario, without an effect: an effect of an earlier drawing
  // would run between the events input and change of the slider.
  const [draft, setDraft] = useState<{ of: string; change: Partial<Scenario> }>()
  const change = draft?.of === shownScenario ? draft.change : {}
  const shown = { ...scenario, ...change }
  const edit = (more: Partial<Scenario>) => setDraft({ of: shownScenario, change: { ...change, ...more } })
  // Not with the scenario of the last drawing, because this may be called before the next one.
  const start = (more: Partial<Scenario>) => void playground.start({ ...playground.story.scenario, ...change, ...more })
  return (
    <form
      class="setup"
      aria-label="Scenario"
      onSubmit={event => {
        event.preventDefault()
        start({})
      }}
    >
      <label class="field">
        <span>Recipe</span>
        <select value={shown.recipe} onChange={event => start({ recipe: event.currentTarget.value as RecipeId })}>
          {Object.entries(RECIPES).map(([id, title]) => (
            <option key={id} value={id}>
              {title}
            </option>
          ))}
        </select>
      </label>
      <label class="field slider">
        <span>
          Clients, N = <b>{shown.clients}</b>
        </span>
        <input
          type="range"
          min="1"
          max={LIMITS.clients}
          value={shown.clients}
          onInput={event => edit({ clients: event.currentTarget.valueAsNumber })}
          onChange={event => start({ clients: event.currentTarget.valueAsNumber })}
        />
      </label>
      <label class="field">
        <span>Servers</span>
        <select
          value={shown.servers}
          onChange={event => start({ servers: ENSEMBLES[event.currentTarget.selectedIndex]?.id ?? 1 })}
        >
          {ENSEMBLES.map(({ id, title }) => (
            <option key={id} value={id}>
              {title}
            </option>
          ))}
        </select>
      </label>
      <label class="field seed">
        <span>Seed</span>
        <input
          type="number"
          min="0"
          max={LARGEST_SEED}
          required
          value={shown.seed}
          onInput={event => edit({ seed: event.currentTarget.valueAsNumber })}
        />
      </label>
      <button type="submit">Start again</button>
      {playground.capture === undefined && <CopyLink playground={playground} />}
    </form>
  )
}

function CopyLink({ playground }: Props) {
  const [state, setState] = useState<'idle' | 'copied' | 'failed'>('idle')
  useEffect(() => {
    if (state === 'idle') return undefined
    const timer = setTimeout(() => setState('idle'), 3000)
    return () => clearTimeout(timer)
  }, [state])
  const copy = () => {
    const address = `${location.href.split('#')[0] ?? ''}#${playground.link}`
    history.replaceState(null, '', `#${playground.link}`)
    // There is no clipboard in a page that another machine serves without TLS.
    const clipboard = navigator.clipboard as Clipboard | undefined
    if (clipboard === undefined) setState('failed')
    else
      clipboard.writeText(address).then(
        () => setState('copied'),
        () => setState('failed'),
      )
  }
  const texts = { idle: 'Copy link', copied: 'Copied', failed: 'Copy it from the address' }
  return (
    <button type="button" onClick={copy}>
      <span aria-live="polite">{texts[state]}</span>
    </button>
  )
}
