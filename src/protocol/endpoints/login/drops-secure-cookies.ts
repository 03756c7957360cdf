import Bowser from 'bowser'
import type { HttpRequest } from '../../../http/request.ts'

/**
 * Returns whether the browser ignores the session cookie of this server, so that nobody can log in. Safari ignores
 * `Secure` cookies from http addresses, including `http://localhost`.
 */
export const dropsSecureCookies = ({ headers }: HttpRequest, issuer: string): boolean => {
  const userAgent = headers.get('user-agent')
  if (!issuer.startsWith('http:') || !userAgent) return false
  return Bowser.getParser(userAgent).getBrowserName() === 'Safari'
}
