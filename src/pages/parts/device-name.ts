import Bowser from 'bowser'

/** Returns the browser and operating system of a `User-Agent`, such as `Chrome, Linux`; null if both are unknown. */
export const deviceName = (userAgent: string): string | null => {
  if (userAgent === '') return null
  const parser = Bowser.getParser(userAgent)
  const names = [parser.getBrowserName(), parser.getOSName()].filter((name) => name !== '')
  return names.length === 0 ? null : names.join(', ')
}
