/** @throws that names the option, where its text is no whole number from 1 on */
export function wholeNumber(option: string, text: string): number {
  const value = Number(text)
  if (Number.isInteger(value) && value >= 1) return value
  throw new Error(`--${option}: ${JSON.stringify(text)} is not a whole number from 1 on`)
}
