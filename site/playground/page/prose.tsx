import { useState } from 'preact/hooks'
import { piecesOf, type Piece } from '../../lessons/terms.ts'

/** Text with code between backticks. */
export const Prose = ({ text }: { text: string }) => <Pieces pieces={piecesOf(text)} />

/** Text with code, and with terms whose meaning can be opened. */
export const Pieces = ({ pieces }: { pieces: readonly Piece[] }) => (
  <>
    {pieces.map(({ term, ...piece }, i) =>
      term === undefined ? <Plain key={i} {...piece} /> : <Word key={i} {...piece} meaning={term.meaning} />,
    )}
  </>
)

const Plain = ({ text, isCode }: Pick<Piece, 'text' | 'isCode'>) => (isCode ? <code>{text}</code> : <>{text}</>)

/** A term, which tells its meaning when it is pressed. */
function Word({ meaning, ...piece }: Pick<Piece, 'text' | 'isCode'> & { meaning: string }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <button type="button" class="term" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Plain {...piece} />
      </button>
      {isOpen && (
        <span class="meaning">
          {' ('}
          <Prose text={meaning} />)
        </span>
      )}
    </>
  )
}
