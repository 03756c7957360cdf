import fc from 'fast-check'

/** Valid and invalid URLs of many kinds. The library's own `webUrl` takes milliseconds for each URL. */
export const someUrl: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom('https://', 'http://', 'HTTPS://', 'ftp://', 'javascript:', '//', ''),
    fc.constantFrom('', '', '', 'a@', 'a:b@', 'client.example\\@', '@'),
    fc.constantFrom(
      'client.example',
      'localhost',
      'a.b.c.example',
      'example.',
      '192.0.2.1',
      '0x7f.1',
      '2130706433',
      '[::1]',
      '[2001:db8::1]',
      'bücher.example',
      'x"y',
    ),
    fc.constantFrom('', '', ':80', ':443', ':8443', ':0', ':99999'),
    fc.oneof(
      fc.constantFrom('', '/', '/cb', '/?x=1', '#f', '/..', '/ '),
      fc.stringMatching(/^\/[a-zA-Z0-9/.%?#&=_-]{0,12}$/),
    ),
  )
  .map((parts) => parts.join(''))
