import { goalOf } from '../model/words.ts'
import { GLYPHS, STAR, type Kind } from '../scene/glyphs.ts'
import { GlyphIcon } from './glyph.tsx'
import type { Props } from './props.ts'

export function Legend({ playground }: Props) {
  return (
    <ul class="legend" aria-label="Legend">
      {Object.entries(GLYPHS).map(([kind, { title }]) => (
        <li key={kind}>
          <GlyphIcon kind={kind as Kind} />
          {title}
        </li>
      ))}
      {[goalOf(playground.picture.story.scenario.recipe), 'believes it, and may have lost it'].map((meaning, i) => (
        <li key={meaning}>
          <svg class="icon" viewBox="-9 -9 18 18" width="18" height="18" aria-hidden="true">
            <path class={i === 0 ? 'star' : 'star hollow'} d={STAR} />
          </svg>
          {meaning}
        </li>
      ))}
      <li>
        <svg class="icon" viewBox="-9 -9 18 18" width="18" height="18" aria-hidden="true">
          <path class="lease" d="M0,-7A7,7,0,1,1,-7,0" />
        </svg>
        lease running out
      </li>
    </ul>
  )
}
