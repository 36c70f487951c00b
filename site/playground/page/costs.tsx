import { useState } from 'preact/hooks'
import { RECIPES, type RecipeId } from '../../world/story.ts'
import { FIGURES, pointsOf, type CostPoint, type Figure } from '../model/costs.ts'
import { isMeasurable, SIZES } from '../model/measure.ts'
import type { Props } from './props.ts'
import { scaleOf, type Scale } from '../scene/plot.ts'

const [WIDTH, HEIGHT] = [560, 300]
const MARGIN = { top: 30, right: 20, bottom: 38, left: 62 }
/** Symbols of the recipes, because colours alone do not suffice. */
const SYMBOLS = [
  'M-5,0A5,5,0,1,1,5,0A5,5,0,1,1,-5,0Z',
  'M-5,-5H5V5H-5Z',
  'M0,-6L6,5H-6Z',
  'M0,-7L7,0L0,7L-7,0Z',
  'M0,6L6,-5H-6Z',
  'M-2,-6H2V-2H6V2H2V6H-2V2H-6V-2H-2Z',
]

/** What the releases cost that the reader has tried, by the number of clients. */
export function Costs({ playground }: Props) {
  const [figure, setFigure] = useState<Figure>('notifications')
  const points = pointsOf(playground.costs.all, figure)
  const { recipe } = playground.story.scenario
  const scale = scaleOf([...points.values()].flat(), { width: WIDTH, height: HEIGHT, margin: MARGIN })
  const summary = [...points].map(([id, all]) => `${RECIPES[id]}: ${all.map(textOf).join(', ')}`).join('; ')
  const { isMeasuring } = playground.costs
  return (
    <section class="panel costs" aria-labelledby="costs-title">
      <h2 id="costs-title">What one release costs</h2>
      <p>
        Each release that you try is a point. Choose another N and let the holder release again: the points of the herd
        make a parabola of bytes, those of the queue stay flat.
      </p>
      <div class="row">
        <label class="field">
          <span>Figure</span>
          <select value={figure} onChange={event => setFigure(event.currentTarget.value as Figure)}>
            {FIGURES.map(each => (
              <option key={each} value={each}>
                {each}
              </option>
            ))}
          </select>
        </label>
        <button type="button" disabled={isMeasuring || !isMeasurable(recipe)} onClick={() => void playground.measure()}>
          {isMeasuring ? 'Trying …' : `Try ${RECIPES[recipe]} with N = ${SIZES.join(', ')}`}
        </button>
      </div>
      <svg
        class="plot"
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        role="img"
        aria-label={`${figure} of one release by the number of clients. ${summary === '' ? 'No release yet.' : summary}`}
      >
        <Axes scale={scale} figure={figure} />
        {[...points].map(([id, all]) => (
          <Series key={id} recipe={id} points={all} scale={scale} />
        ))}
        {points.size === 0 && (
          <text class="faint" x={WIDTH / 2} y={HEIGHT / 2 - 12} text-anchor="middle">
            no release yet
          </text>
        )}
      </svg>
      <ul class="legend">
        {[...points.keys()].map(id => (
          <li key={id}>
            <svg class="icon" viewBox="-9 -9 18 18" width="18" height="18" aria-hidden="true">
              <path class={`series-${styleOf(id)}`} d={symbolOf(id)} />
            </svg>
            {RECIPES[id]}
          </li>
        ))}
      </ul>
    </section>
  )
}

const textOf = ({ clients, value }: CostPoint): string => `N = ${clients}: ${value}`
const styleOf = (recipe: RecipeId): number => Object.keys(RECIPES).indexOf(recipe) % 9
const symbolOf = (recipe: RecipeId): string => SYMBOLS[styleOf(recipe) % SYMBOLS.length] ?? ''

function Axes({ scale, figure }: { scale: Scale; figure: Figure }) {
  return (
    <g class="axes">
      {scale.yTicks.map(value => (
        <g key={value} transform={`translate(0,${scale.y(value)})`}>
          <line x1={MARGIN.left} x2={WIDTH - MARGIN.right} />
          <text x={MARGIN.left - 8} y="4" text-anchor="end">
            {value.toLocaleString('en')}
          </text>
        </g>
      ))}
      {scale.xTicks.map(value => (
        <text key={value} x={scale.x(value)} y={HEIGHT - MARGIN.bottom + 18} text-anchor="middle">
          {value}
        </text>
      ))}
      <text x={WIDTH - MARGIN.right} y={HEIGHT - 4} text-anchor="end">
        clients that contend, N →
      </text>
      <text x={MARGIN.left} y={MARGIN.top - 14}>
        ↑ {figure}
      </text>
    </g>
  )
}

function Series({ recipe, points, scale }: { recipe: RecipeId; points: readonly CostPoint[]; scale: Scale }) {
  const line = points.map(({ clients, value }) => `${scale.x(clients)},${scale.y(value)}`).join('L')
  return (
    <g data-recipe={recipe}>
      <path class={`line series-${styleOf(recipe)}`} d={`M${line}`} />
      {points.map(({ clients, value, tried }) => (
        <path
          key={clients}
          class={`point series-${styleOf(recipe)}`}
          d={symbolOf(recipe)}
          transform={`translate(${scale.x(clients)},${scale.y(value)})`}
        >
          <title>{`${RECIPES[recipe]}, N = ${clients}: ${value}${tried > 1 ? `, the median of ${tried}` : ''}`}</title>
        </path>
      ))}
    </g>
  )
}
