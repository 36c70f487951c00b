// Draws two columns of a table again whenever the reader chooses others.
import * as Plot from '@observablehq/plot'
import { columnsOf, pointsOf, type Dataset } from '../../explore/datasets.ts'

/** The colours that are easily told apart. */
const COLOURS = 10

const form = document.querySelector('form')
const data = document.querySelector('#datasets')
if (form !== null && data !== null) listen(form, JSON.parse(data.textContent) as Dataset[])

function listen(form: HTMLFormElement, datasets: readonly Dataset[]): void {
  const field = (name: string) => form.elements.namedItem(name) as HTMLSelectElement
  const chosen = (): Dataset => datasets[Number(field('dataset').value)] ?? { name: '', observations: [] }

  const offerColumns = (): void => {
    const columns = columnsOf(chosen())
    for (const [name, preferred] of [
      ['x', 0],
      ['y', Math.min(2, columns.length - 1)],
    ] as const) {
      const before = field(name).value
      field(name).replaceChildren(...columns.map(column => new Option(column)))
      field(name).value = columns.includes(before) ? before : (columns[preferred] ?? '')
    }
  }

  const draw = (): void => {
    const [x, y] = [field('x').value, field('y').value]
    const isLogarithmic = (form.elements.namedItem('log') as HTMLInputElement).checked
    const points = pointsOf(chosen(), [x, y], isLogarithmic)
    const names = new Set(points.map(({ lock }) => lock))
    const type = isLogarithmic ? 'log' : 'linear'
    const picture = Plot.plot({
      ...{ width: Math.min(960, document.body.clientWidth - 40), height: 520, marginLeft: 64, grid: true },
      x: { type, label: x, tickFormat: '~s' },
      y: { type, label: y, tickFormat: '~s' },
      color: { legend: true, scheme: names.size > COLOURS ? 'Turbo' : 'Observable10' },
      marks: [
        Plot.line(points, { x: 'x', y: 'y', z: 'lock', stroke: 'lock', strokeOpacity: 0.4 }),
        Plot.dot(points, { x: 'x', y: 'y', fill: 'lock', r: 4, tip: true, channels: { lock: 'lock' } }),
      ],
    })
    document.querySelector('#plot')?.replaceChildren(picture)
    const left = isLogarithmic ? ' Figures of 0 have no place on a logarithmic axis.' : ''
    document.querySelector('#shown')?.replaceChildren(`${points.length} points of ${names.size} locks.${left}`)
  }

  form.addEventListener('input', event => {
    if (event.target === field('dataset')) offerColumns()
    draw()
  })
  form.addEventListener('submit', event => event.preventDefault())
  offerColumns()
  draw()
}
