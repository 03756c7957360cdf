import Bowser from 'bowser'

/** The browser and the system that a `User-Agent` names, such as `Chrome on Linux`; null where it names neither. */
export const deviceName = (userAgent: string): string | null => {
  if (userAgent === '') return null
  const parser = Bowser.getParser(userAgent)
  const names = [parser.getBrowserName(), parser.getOSName()].filter((name) => name !== '')
  return names.length === 0 ? null : names.join(', ')
}
