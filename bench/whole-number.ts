import { UsageError } from './output/usage.ts'

/** @throws UsageError that names the option, where its text is no whole number from 1 on */
export function wholeNumber(option: string, text: string): number {
  const value = Number(text)
  if (Number.isInteger(value) && value >= 1) return value
  throw new UsageError(`--${option}: ${JSON.stringify(text)} is not a whole number from 1 on`)
}
