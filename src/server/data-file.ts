// Reads and writes the file of a server's state. node:fs is imported only if a file is used, because not every runtime
// has files.

/** Returns the text of the file, or undefined if the file does not exist. */
export async function readData(file: string): Promise<string | undefined> {
  const { readFile } = await import('node:fs/promises')
  return readFile(file, 'utf8').catch((error: unknown) => {
    if ((error as { code?: unknown }).code === 'ENOENT') return undefined
    throw error
  })
}

/** Replaces the file by a whole new one. Only its owner may read it, because it contains passwords of sessions. */
export async function writeData(file: string, text: string): Promise<void> {
  const { rename, writeFile } = await import('node:fs/promises')
  await writeFile(`${file}.new`, text, { mode: 0o600 })
  await rename(`${file}.new`, file)
}
