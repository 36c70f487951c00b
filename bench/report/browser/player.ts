// Plays the timelines. Without this script the page shows all frames at once.
// May import: bench/explore/datasets.ts, bench/model, @observablehq/plot.
const MS_PER_FRAME = 180

const player = document.querySelector<HTMLElement>('.player')
if (player !== null) play(player)

function play(controls: HTMLElement): void {
  const slider = controls.querySelector('input') as HTMLInputElement
  const count = controls.querySelector('output') as HTMLOutputElement
  const button = (name: string) => controls.querySelector(`[data-do="${name}"]`) as HTMLButtonElement
  const panels = [...document.querySelectorAll<HTMLElement>('.timeline')].map(figure => ({
    steps: Number(figure.dataset['steps']),
    glyphs: [...figure.querySelectorAll<SVGElement>('[data-step]')],
    sentences: [...figure.querySelectorAll('li')].map(item => item.textContent),
    now: figure.querySelector('.now') as HTMLElement,
  }))
  const last = Number(slider.max)
  let timer: ReturnType<typeof setInterval> | undefined

  const show = (step: number): void => {
    slider.value = String(step)
    count.value = `frame ${step} of ${last}`
    for (const { steps, glyphs, sentences, now } of panels) {
      for (const glyph of glyphs) {
        const own = Number(glyph.dataset['step'])
        glyph.classList.toggle('later', own > step)
        glyph.classList.toggle('current', own === step)
      }
      now.textContent = step > steps ? `finished after ${steps}` : (sentences[step - 1] ?? '')
    }
  }

  const stop = (): void => {
    clearInterval(timer)
    timer = undefined
    button('play').textContent = 'Play'
    // Announce the frame to screen readers only when the user steps by hand.
    count.setAttribute('aria-live', 'polite')
  }

  const start = (): void => {
    if (Number(slider.value) >= last) show(0)
    button('play').textContent = 'Pause'
    count.setAttribute('aria-live', 'off')
    timer = setInterval(() => {
      show(Number(slider.value) + 1)
      if (Number(slider.value) >= last) stop()
    }, MS_PER_FRAME)
  }

  const moveTo = (step: number): void => {
    stop()
    show(Math.min(last, Math.max(0, step)))
  }

  button('play').addEventListener('click', () => (timer === undefined ? start() : stop()))
  button('back').addEventListener('click', () => moveTo(Number(slider.value) - 1))
  button('forward').addEventListener('click', () => moveTo(Number(slider.value) + 1))
  slider.addEventListener('input', () => moveTo(Number(slider.value)))
  controls.hidden = false
}
