import type { RemoteSite } from './remote-site.ts'

/** Accepts logout tokens at `/logout` of a site. @returns a list to which each received token is added */
export const receiveLogoutTokens = (site: RemoteSite): string[] => {
  const received: string[] = []
  site.respond('/logout', (request, response) => {
    let text = ''
    request.on('data', (chunk) => {
      text += chunk
    })
    request.on('end', () => {
      received.push(new URLSearchParams(text).get('logout_token') ?? '')
      response.writeHead(200, { 'cache-control': 'no-store' }).end()
    })
  })
  return received
}
