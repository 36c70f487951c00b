// Reads captures of tcpdump and Wireshark, with the reader of `zkwire explain`.
import { CaptureExplainer } from '../../src/cli/capture/capture-explainer.ts'
import { CaptureError } from '../../src/cli/capture/packet.ts'
import { toldLineOf } from '../../src/cli/conversation/told-line.ts'
import { FileError, type FileReader, type Row, type Rows } from './row.ts'

export class PcapReader implements FileReader {
  frames = 0
  readonly #rows: Row[] = []
  readonly #about: string[] = []
  readonly #explainer = new CaptureExplainer((seconds, connection, line) => {
    if (line.frame !== undefined) this.frames++
    this.#rows.push({ ...toldLineOf(line, false), seconds, connection, bytes: line.bytes })
  })

  push(bytes: Buffer): void {
    if (this.#about.length > 0) return
    try {
      // How long missing segments are awaited is decided by the times of the packets.
      this.#explainer.push(bytes, 0)
    } catch (error) {
      if (!(error instanceof CaptureError)) throw error
      if (this.#rows.length === 0) throw new FileError(`${sentenceOf(error)} Capture it again, or open another file.`)
      this.#about.push(`${sentenceOf(error)} What was captured before is shown.`)
    }
  }

  end(isCut: boolean): Omit<Rows, 'isCut'> {
    if (isCut) return { rows: this.#rows, about: this.#about }
    this.#explainer.finish()
    const summary = this.#explainer.summary()
    return { rows: this.#rows, about: [`${summary[0]?.toUpperCase() ?? ''}${summary.slice(1)}.`, ...this.#about] }
  }
}

const sentenceOf = ({ message }: CaptureError): string => `${message[0]?.toUpperCase() ?? ''}${message.slice(1)}.`
