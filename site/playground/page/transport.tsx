import { describeCounters, nameOf, seconds } from '../model/words.ts'
import type { Props } from './props.ts'
import { saveStage } from './stage-svg.ts'

/** Plays, and goes from frame to frame. */
export function Transport({ playground }: Props) {
  const { playing, speed, picture, frames } = playground
  const { all, thisRelease } = picture.counters
  return (
    <div class="transport">
      <div class="buttons" role="group" aria-label="Time">
        <button type="button" onClick={() => void playground.goTo(0)} disabled={frames.length === 0}>
          <Icon path="M-6,-6V6M6,-6L-3,0L6,6Z" />
          <span class="hidden">to the beginning</span>
        </button>
        <button type="button" onClick={() => void playground.back()} disabled={frames.length === 0}>
          <Icon path="M4,-6L-5,0L4,6Z" />
          <span class="hidden">one frame back</span>
        </button>
        <button type="button" class="main" onClick={() => (playing ? playground.pause() : playground.play())}>
          <Icon path={playing ? 'M-5,-6H-1.5V6H-5ZM1.5,-6H5V6H1.5Z' : 'M-4,-7L7,0L-4,7Z'} />
          <span class="word">{playing ? 'Pause' : 'Play'}</span>
        </button>
        <button type="button" onClick={() => void playground.forward()}>
          <Icon path="M-4,-6L5,0L-4,6Z" />
          <span class="hidden">one frame forward</span>
        </button>
        <button type="button" title="until nothing but pings is on its way" onClick={() => void playground.settle()}>
          <Icon path="M6,-6V6M-6,-6L3,0L-6,6Z" />
          <span class="hidden">forward until it is quiet</span>
        </button>
      </div>
      <div class="buttons" role="group" aria-label="Speed">
        <button type="button" onClick={() => playground.changeSpeed(-1)}>
          <span class="hidden">slower</span>
          <span aria-hidden="true">−</span>
        </button>
        <output class="speed">{speed < 1 ? `1/${1 / speed}` : speed}×</output>
        <button type="button" onClick={() => playground.changeSpeed(1)}>
          <span class="hidden">faster</span>
          <span aria-hidden="true">+</span>
        </button>
      </div>
      {document.fullscreenEnabled && (
        <button type="button" class="full-screen" title="full screen" onClick={() => void toggleFullScreen()}>
          <Icon path="M-7,-2V-7H-2M2,-7H7V-2M7,2V7H2M-2,7H-7V2" hollow />
          <span class="hidden">full screen</span>
        </button>
      )}
      <button
        type="button"
        class="full-screen"
        title="save this moment of the stage as a picture for slides (SVG)"
        onClick={() => saveStage(playground)}
      >
        <Icon path="M0,-7V3M-4,-1L0,3L4,-1M-7,3V7H7V3" hollow />
        <span class="hidden">save the stage as SVG</span>
      </button>
      <dl class="counters">
        <div>
          <dt>time</dt>
          <dd>{seconds(picture.now)}</dd>
        </div>
        <div>
          <dt>all</dt>
          <dd>{describeCounters(all)}</dd>
        </div>
        {playground.capture === undefined && (
          <div>
            <dt>this release</dt>
            <dd>{describeCounters(thisRelease)}</dd>
          </div>
        )}
        {picture.said !== undefined && picture.said.length > 0 && (
          <div class="said">
            <dt>said and done last</dt>
            {picture.said.map(({ client, text }, i) => (
              <dd key={i}>
                {nameOf(client)} {text}
              </dd>
            ))}
          </div>
        )}
      </dl>
    </div>
  )
}

/** For a projector: the stage, the lesson and the buttons, larger. */
const toggleFullScreen = (): Promise<void> =>
  document.fullscreenElement === null ? document.documentElement.requestFullscreen() : document.exitFullscreen()

function Icon({ path, hollow = false }: { path: string; hollow?: boolean }) {
  return (
    <svg viewBox="-10 -10 20 20" width="20" height="20" aria-hidden="true">
      <path
        d={path}
        fill={hollow ? 'none' : 'currentColor'}
        stroke="currentColor"
        stroke-width="1.5"
        stroke-linejoin="round"
      />
    </svg>
  )
}
