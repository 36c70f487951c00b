// Reads and writes the file of a server's state.
import { readFile, rename, writeFile } from 'node:fs/promises'

/** Returns the text of the file, or undefined if the file does not exist. */
export const readData = (file: string): Promise<string | undefined> =>
  readFile(file, 'utf8').catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  })

/** Replaces the file by a whole new one. Only its owner may read it, because it contains passwords of sessions. */
export async function writeData(file: string, text: string): Promise<void> {
  await writeFile(`${file}.new`, text, { mode: 0o600 })
  await rename(`${file}.new`, file)
}
