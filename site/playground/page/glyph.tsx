import { GLYPHS, type Kind } from '../scene/glyphs.ts'

/** The shape of a kind of frame, for legends and lanes. */
export function Glyph({ kind }: { kind: Kind }) {
  const { path, hollow } = GLYPHS[kind]
  return <path class={`glyph ${kind}${hollow ? ' hollow' : ''}`} d={path} />
}

export function GlyphIcon({ kind }: { kind: Kind }) {
  return (
    <svg class="icon" viewBox="-9 -9 18 18" width="18" height="18" aria-hidden="true">
      <Glyph kind={kind} />
    </svg>
  )
}
