import { counted } from './counted.ts'
import type { Messages } from './en.ts'

const count = counted('es')

export const es: Messages = {
  frame: {
    skip: 'Saltar al contenido',
    navigation: 'Cuenta',
    applications: 'Aplicaciones',
    tokens: 'Tokens',
    clients: 'Mis aplicaciones',
    authorized: 'Aplicaciones autorizadas',
    sessions: 'Sesiones',
    activity: 'Actividad',
    leaked: 'Secreto filtrado',
    admin: 'Administración',
    logout: 'Cerrar sesión',
    copy: 'Copiar',
    copied: 'Copiado',
    next: 'Página siguiente',
    previous: 'Página anterior',
    first: 'Primera página',
    pages: 'Páginas',
    save: 'Guardar cambios',
    cancel: 'Cancelar',
    error: (title: string) => `Error: ${title}`,
    saveAnyway: 'Guardar de todos modos',
    confirmLosses: 'Todavía no se ha guardado nada. Si guardas estos cambios:',
    conflict:
      'Mientras lo editabas, se cambió en otra ventana, así que no se ha guardado nada. Tu versión sigue en el formulario. Si la guardas, sustituye a la otra versión:',
    savedVersion: 'Guardado entretanto',
    yourVersion: 'Tu versión',
    correct: 'Corrige lo siguiente:',
    line: (line: number, sentence: string) => `Línea ${line}: ${sentence}`,
    kept: 'Ya lo he copiado',
  },
  facts: {
    clientId: 'ID de cliente',
    clientSecret: 'Secreto de cliente',
    type: 'Tipo',
    confidential: 'Confidencial',
    public: 'Pública',
    verified: 'Verificada',
    disabled: 'Desactivada',
    selfRegistered: 'Registrada por sí misma',
    selfDescribed: 'Descrita por sí misma',
    pinned: 'Documento fijado',
    expired: 'Caducado',
    created: 'Fecha de creación',
    users: 'Usuarios',
    moreThan: (count) => `más de ${count}`,
    expires: 'Caduca',
    never: 'Nunca',
    expiresSoon: (time: string) => `Caduca ${time}`,
    endsWith: (end: string) => `termina en ${end}`,
    lastUsed: 'Último uso',
    neverUsed: 'Todavía sin usar',
    from: (address: string) => `desde ${address}`,
    owner: 'Registrada por',
    nobody: 'Nadie',
    website: 'Sitio web',
    since: 'Acceso permitido desde',
    permissions: 'Permisos',
    noPermissions: 'Ninguno, salvo saber quién eres',
    read: 'Solo lectura',
    write: 'Puede modificar',
    highRisk: 'Riesgo alto',
    otherGroup: 'Otros',
    unknownBrowser: 'Navegador o programa desconocido',
    words: (name: string) => `${name} se describe así:`,
  },
  login: {
    title: 'Iniciar sesión',
    continueTo: (client: string) =>
      `${client} pide acceso a tu cuenta. Decides después de iniciar sesión.`,
    email: 'Correo electrónico',
    password: 'Contraseña',
    submit: 'Iniciar sesión',
    wrong: 'El correo electrónico o la contraseña no son correctos.',
    tooMany:
      'Se han introducido demasiadas contraseñas incorrectas. Espera diez minutos y vuelve a intentarlo.',
    stale:
      'Esta página ya no está actualizada, por ejemplo porque iniciaste o cerraste sesión en otra ventana. Inténtalo de nuevo.',
    noCookie:
      'Tu navegador no envió ninguna cookie. Permite las cookies de este sitio e inténtalo de nuevo.',
    foreign: 'Este formulario se envió desde otro sitio. Inicia sesión aquí.',
    loggedOut:
      'Tu sesión se cerró antes de guardar esto. Inicia sesión: el formulario conserva lo que escribiste.',
    dropsCookies:
      'Safari no puede iniciar sesión en una dirección que empieza por http://. Usa otro navegador, como Firefox o Chrome, o abre este sitio con https.',
    expired: 'Tu sesión ha caducado. Vuelve a iniciar sesión para continuar.',
  },
  home: {
    title: 'Página de inicio',
    nobody: 'No has iniciado sesión.',
    user: 'Has iniciado sesión como',
    login: 'Iniciar sesión',
    applications: 'Aplicaciones y tokens personales',
    aboutApplications:
      'Registra aplicaciones, crea tokens para tus propios programas y consulta quién puede actuar en tu nombre.',
    sessions: 'Sesiones',
    aboutSessions: 'Consulta dónde has iniciado sesión y ciérrala en otros lugares.',
    admin: 'Administración',
    aboutAdmin: 'Gestiona todas las aplicaciones y todos los tokens.',
  },
  consent: {
    title: (client: string) => `¿Autorizar a ${client}?`,
    asks: (client: string) => `${client} quiere actuar en tu nombre. Pide permiso para:`,
    nothing: (client: string) =>
      `${client} quiere saber quién eres. No obtiene ningún otro permiso.`,
    asksMore: (client: string) =>
      `${client} ya tiene acceso a tu cuenta. Ahora pide además permiso para:`,
    asksAgain: (client: string) => `${client} vuelve a pedir lo que ya has permitido:`,
    allowedBefore: 'Ya has permitido:',
    optional: 'Puedes desmarcar lo que no quieras permitir.',
    user: 'Has iniciado sesión como',
    otherAccount: '¿No eres tú? Usa otra cuenta',
    owner: 'Registrada por',
    website: 'Sitio web',
    destination: 'Se te redirigirá a',
    local: 'un programa en este mismo equipo',
    unverified: (brand: string) =>
      `${brand} no ha verificado esta aplicación. Autorízala solo si sabes quién la desarrolla.`,
    selfRegistered: (brand: string) =>
      `Esta aplicación se ha registrado por sí misma. Nadie de ${brand} la ha verificado: su nombre y todo lo demás que dice de sí misma pueden ser falsos. Autorízala solo si sabes quién la desarrolla.`,
    selfDescribed: (host: string) =>
      `Esta aplicación se describe a sí misma en ${host}. Aquí nadie la ha verificado: su nombre y todo lo demás que dice de sí misma pueden ser falsos. Autorízala solo si sabes quién está detrás de esa dirección.`,
    localCaution:
      'Si la autorizas, el permiso lo recibirá un programa de este equipo. Cualquier programa puede hacerse pasar por esta aplicación: autorízala solo si acabas de iniciarla tú.',
    terms: 'Condiciones de uso',
    privacy: 'Política de privacidad',
    mixesAlphabets:
      'El nombre contiene letras que parecen de otro alfabeto. Asegúrate de que es quien crees.',
    lasting:
      'Si la autorizas, podrá hacerlo hasta que le retires el acceso en «Aplicaciones autorizadas».',
    accept: 'Autorizar',
    undecided: 'No se ha elegido ni «Autorizar» ni «Rechazar». Elige una opción.',
    refuse: 'Rechazar',
  },
  device: {
    title: 'Conectar un dispositivo',
    about: 'Tu dispositivo o programa muestra un código. Introdúcelo aquí.',
    code: 'Código',
    codeHint: 'Ocho letras, por ejemplo WDJB-MJHT, en mayúsculas o minúsculas.',
    submit: 'Continuar',
    wrong:
      'Este código no es válido. Puede que esté mal escrito, que haya caducado o que ya se haya usado.',
    tooMany:
      'Se han introducido demasiados códigos incorrectos. Espera diez minutos y pide un código nuevo en tu dispositivo.',
    warning:
      'Autoriza solo si lo acabas de iniciar tú, en un dispositivo tuyo. Si alguien te ha enviado este código o un enlace, rechaza: esa persona actuaría en tu nombre.',
    shows: 'Tu dispositivo debe mostrar exactamente este código:',
    allowedTitle: 'Acceso autorizado',
    allowed: (client: string) => `${client} ya puede actuar en tu nombre.`,
    goBack: 'Vuelve a tu dispositivo: seguirá por sí solo en unos segundos.',
    refusedTitle: 'Acceso rechazado',
    refused: (client: string) => `${client} no puede hacer nada en tu nombre.`,
    close: 'Puedes cerrar esta página.',
  },
  applications: {
    title: 'Aplicaciones',
    clients: {
      title: 'Mis aplicaciones',
      about:
        'Aplicaciones que has registrado. Pueden pedir permiso a otras personas, y a ti, para actuar aquí en su nombre.',
      none: 'Todavía no has registrado ninguna aplicación.',
      invite:
        'Registra una para que la gente pueda iniciar sesión en tu sitio o programa con su cuenta de aquí.',
      create: 'Registrar una aplicación',
    },
    tokens: {
      title: 'Mis tokens personales',
      about:
        'Claves para tus propios scripts y programas. Cada una actúa en tu nombre, dentro de los permisos que le hayas dado.',
      none: 'Todavía no tienes tokens personales.',
      invite:
        'Crea uno para usar la API desde un script, desde la línea de comandos o desde otro programa.',
      create: 'Crear un token',
      delete: 'Eliminar',
      deleteNamed: (name: string) => `Eliminar ${name}`,
      deleteSelected: 'Eliminar los tokens seleccionados',
      deleteSome: count({ one: '¿Eliminar # token?', other: '¿Eliminar # tokens?' }),
    },
    authorized: {
      title: 'Aplicaciones autorizadas',
      about:
        'Aplicaciones que pueden actuar en tu nombre porque las has autorizado. Puedes retirarles el acceso cuando quieras.',
      none: 'No has autorizado a ninguna aplicación a actuar en tu nombre.',
      invite:
        'Cuando inicies sesión en otro sitio o programa con tu cuenta de aquí, aparecerá en esta lista.',
      devices: count({ one: '# dispositivo', other: '# dispositivos' }),
      moreDevices: count({ one: 'y # dispositivo más', other: 'y # dispositivos más' }),
      revoke: 'Revocar acceso',
      revokeNamed: (name: string) => `Revocar acceso: ${name}`,
      revokeSelected: 'Revocar el acceso de las aplicaciones seleccionadas',
      revokeSome: count({
        one: '¿Revocar el acceso de # aplicación?',
        other: '¿Revocar el acceso de # aplicaciones?',
      }),
      revokeSomeAbout:
        'Estas aplicaciones pierden el acceso a tu cuenta, en todos los dispositivos, y tendrán que volver a pedirte permiso. Esta acción no se puede deshacer.',
      revokeAll: 'Revocar el acceso de todas las aplicaciones',
      revokeAllAbout:
        'Ninguna aplicación podrá seguir actuando en tu nombre, en ningún dispositivo. Tus tokens personales se conservan.',
    },
  },
  list: {
    search: 'Buscar',
    searchHint: 'Una parte del nombre',
    order: 'Orden',
    orders: {
      newest: 'Más recientes primero',
      oldest: 'Más antiguos primero',
      name: 'Por nombre',
      expires: 'Próximos a caducar primero',
      used: 'Usados recientemente primero',
      unused: 'Más tiempo sin usar primero',
    },
    filter: 'Mostrar',
    filters: {
      never_used: 'Nunca usados',
      expiring: 'Caducan en una semana',
      expired: 'Caducados',
      no_expiry: 'Sin caducidad',
      confidential: 'Confidenciales',
      public: 'Públicas',
      verified: 'Verificadas',
      disabled: 'Desactivadas',
      unverified: 'Sin verificar',
      unused: 'Sin tokens',
      self_registered: 'Registradas por sí mismas',
    },
    everything: 'Todo',
    kind: 'Tipo',
    anyKind: 'Cualquier tipo',
    kinds: {
      personal: 'Tokens personales',
      access: 'Solo tokens de acceso',
      refresh: 'Con token de actualización',
    },
    scope: 'Permiso',
    anyScope: 'Cualquier permiso',
    apply: 'Aplicar',
    clear: 'Mostrar todo',
    entries: count({ one: '# elemento', other: '# elementos' }),
    found: (found: string, all: string) => `${found} de ${all}`,
    partial:
      'Esta lista es larga, así que se buscan y ordenan 1000 elementos cada vez. La página siguiente continúa con los demás elementos.',
    nothing: 'No se ha encontrado nada.',
    nothingYet:
      'No se ha encontrado nada entre estos elementos. La página siguiente continúa con los elementos más antiguos.',
    showAll: 'Ver todo',
    select: (name: string) => `Seleccionar ${name}`,
    selectedNone: 'Selecciona al menos un elemento de la lista.',
    undo: 'Deshacer',
  },
  client: {
    newTitle: 'Registrar una aplicación',
    newAbout:
      'Una aplicación registrada puede pedir permiso a las personas para actuar aquí en su nombre. Se identifica con un ID de cliente.',
    create: 'Registrar la aplicación',
    name: 'Nombre',
    nameHint: 'Lo que verá la gente cuando tu aplicación pida permiso.',
    description: 'Descripción',
    descriptionHint: 'Opcional. Qué hace tu aplicación y por qué necesita permiso.',
    website: 'Sitio web',
    websiteHint: 'Opcional. Dónde encontrar más información; empieza por https://',
    logoHint:
      'Opcional. La dirección https:// de una imagen PNG, JPEG, WebP o GIF de 1024 × 1024 píxeles y 100 KB como máximo. Se muestra cuando un administrador ha verificado tu aplicación.',
    redirectUris: 'URI de redirección',
    redirectUrisHint:
      'Una por línea. Tras decidir, las personas vuelven a una de estas direcciones. Tiene que ser la dirección exacta y empezar por https:// (o http:// en tu propio equipo).',
    logoutFields: 'Cierre de sesión (OpenID Connect)',
    postLogoutRedirectUris: 'URI de redirección tras el cierre de sesión',
    postLogoutRedirectUrisHint:
      'Opcional, una por línea. Tras un cierre de sesión que pidió tu aplicación, las personas vuelven a una de estas direcciones.',
    backchannelLogoutUri: 'URI de cierre de sesión por canal secundario (back-channel)',
    backchannelLogoutUriHint:
      'Opcional. Este servidor envía un token de cierre de sesión a esta dirección cuando termina la sesión de una persona.',
    type: 'Tipo',
    confidentialHint:
      'Se ejecuta en un servidor tuyo y puede guardar un secreto, como una aplicación web.',
    publicHint:
      'Otras personas pueden ver su interior, como una aplicación móvil o de escritorio, o una página sin servidor. No tiene secreto.',
    defaultScopes: 'Permisos predeterminados',
    defaultScopesHint:
      'Lo que pide tu aplicación cuando su solicitud no lo indica. Sin usuario, con client_credentials, tu aplicación solo puede obtener estos.',
    optionalScopes: 'Permisos opcionales',
    optionalScopesHint: 'Se pueden desmarcar y aun así autorizar el resto.',
    losses: {
      verification:
        'La verificación termina. Un administrador tendrá que verificar la aplicación de nuevo.',
      secret: 'El secreto de cliente deja de ser válido.',
      tokens:
        'Todos los tokens de la aplicación dejan de ser válidos y hay que autorizarla de nuevo.',
    },
    credentials: 'Credenciales',
    secretKept: 'Se mostró una sola vez, al crearlo. Si lo has perdido, crea uno nuevo más abajo.',
    secretOnce:
      'Copia ahora el secreto de cliente. Solo se muestra esta vez y no podremos volver a mostrarlo.',
    previousSecret: (time: string) => `El secreto anterior es válido hasta el ${time}.`,
    secretLeaked: (time: string) =>
      `El secreto de cliente se encontró en un lugar donde otros pueden leerlo. Dejó de funcionar el ${time}: crea uno nuevo más abajo.`,
    disabledAbout:
      'Un administrador ha desactivado esta aplicación. Mientras siga así, se rechazan la aplicación y sus tokens.',
    tryIt: 'Pruébalo',
    tryItStart: 'Iniciar el flujo como lo haría tu aplicación',
    tryItAbout:
      'Te lleva a la página en la que se decide. Después se te redirige a tu URI de redirección, con un código en la dirección.',
    tryItCurl:
      'Antes de que pase un minuto, cambia el código por un token de acceso. Pon el código en lugar de CODE:',
    tryItCurlSecret:
      'Antes de que pase un minuto, cambia el código por un token de acceso. Pon el código en lugar de CODE y el secreto de cliente en lugar de SECRET:',
    settings: 'Configuración',
    reset: 'Nuevo secreto de cliente',
    resetAbout: 'Hazlo si has perdido el secreto o si es posible que otros lo conozcan.',
    overlap: 'Mantener válido el secreto anterior durante',
    overlapHint: 'Tiempo para sustituir el anterior por el nuevo.',
    resetSubmit: 'Crear un secreto nuevo',
    delete: 'Eliminar esta aplicación',
    deleteAbout:
      'Todos sus tokens dejan de funcionar de inmediato y, si la vuelves a registrar, habrá que autorizarla de nuevo. Esta acción no se puede deshacer.',
    confirmName: (name: string) => `Para confirmar, escribe el nombre de la aplicación: ${name}`,
    deleteSubmit: 'Eliminar la aplicación',
    kindLegend: 'Clase de aplicación',
    grants: 'Flujos permitidos',
    endpoints: 'Puntos de conexión',
    endpointsAbout: 'Un cliente que lee los metadatos encuentra allí las demás direcciones.',
    newTab: 'Se abre en una pestaña nueva.',
    tryMachine: 'Solicita un token de acceso para la propia aplicación:',
    tryMachineSecret:
      'Solicita un token de acceso para la propia aplicación. Sustituye SECRET por el secreto del cliente:',
    refusals: 'Últimos rechazos',
    refusalsAbout:
      'Solicitudes con el ID de cliente de esta aplicación que se rechazaron en los últimos siete días, la más reciente primero. Cualquiera que conozca el ID de cliente puede causar una entrada.',
    kinds: {
      web: {
        name: 'Aplicación web',
        about:
          'Se ejecuta en tu servidor y guarda un secreto. Las personas la permiten en su navegador.',
      },
      spa: {
        name: 'Aplicación de una sola página',
        about: 'Se ejecuta solo en el navegador, por lo que no tiene secreto. Usa PKCE.',
      },
      native: {
        name: 'Aplicación nativa',
        about:
          'Se ejecuta en un teléfono, un ordenador o la línea de comandos, por lo que no tiene secreto. Usa PKCE, o muestra un código en dispositivos sin navegador.',
      },
      machine: {
        name: 'Máquina',
        about:
          'Un programa en tu servidor que actúa por sí mismo, sin otras personas. No necesita ningún URI de redirección.',
      },
    },
  },
  token: {
    newTitle: 'Crear un token personal',
    newAbout:
      'Un token es como una contraseña para un programa: quien lo tenga puede hacer lo que permitas aquí. Permite solo lo que el programa necesite.',
    create: 'Crear el token',
    name: 'Nombre',
    nameHint: 'Para qué es, de modo que lo reconozcas más adelante.',
    expires: 'Fecha de caducidad',
    expiresHint: 'Un token que caduca pronto causa menos daño si te lo roban.',
    onDay: 'En una fecha',
    onDayHint: 'El token es válido hasta el final de este día.',
    onDayLast: (day: string) =>
      `El token es válido hasta el final de este día, como máximo el ${day}.`,
    until: (day: string) => `hasta el ${day}`,
    unchanged: 'Sin cambios',
    neverHint: 'El token es válido hasta que lo elimines.',
    prefilled:
      'Un enlace ha rellenado este formulario. Crea el token solo si confías en el origen del enlace.',
    scopes: 'Permisos',
    scopesHint:
      'Lo que un programa con este token puede hacer en tu nombre. Puedes cambiarlo más adelante.',
    noScopes: 'No hay nada que elegir: el token solo indica quién eres.',
    once: 'Copia el token ahora. Solo se muestra esta vez y no podremos volver a mostrarlo.',
    value: 'Token personal',
    curl: 'Para probarlo, ejecuta esto en la línea de comandos:',
    expiredAbout: 'Este token ha caducado y se rechaza. Elimínalo o crea uno nuevo.',
    previous: (time: string) => `El valor anterior es válido hasta el ${time}.`,
    endFormer: 'Invalidar ahora el valor anterior',
    usesOnly: (used: string, total: number) => `Permisos usados: solo ${used} de ${total}`,
    usesOnlyAbout:
      'Los permisos sin usar solo le sirven a quien robe el token. Puedes volver a añadirlos cuando quieras.',
    reduce: 'Conservar solo los permisos usados',
    settings: 'Configuración',
    rotate: 'Nuevo valor',
    rotateAbout:
      'El token conserva su nombre y sus permisos y recibe un valor nuevo. Hazlo si has perdido el valor o si es posible que otros lo conozcan.',
    overlap: 'Mantener válido el valor anterior durante',
    overlapHint: 'Tiempo para sustituir el anterior por el nuevo.',
    rotateSubmit: 'Crear un valor nuevo',
    delete: 'Eliminar este token',
    deleteAbout:
      'Los programas que usan este token pierden el acceso de inmediato. Puedes deshacerlo durante diez segundos.',
    deleteSomeAbout:
      'Los programas que usan estos tokens pierden el acceso de inmediato. Puedes deshacerlo durante diez segundos.',
    deleteSubmit: 'Eliminar el token',
  },
  overlap: { none: 'Nada: deja de funcionar de inmediato' },
  authorization: {
    title: (client: string) => `Qué puede hacer ${client}`,
    device: 'Dispositivo',
    ends: 'Caduca si no se usa',
    permissions: 'Puede:',
    revoke: 'Revocar en este dispositivo',
    revokeAbout:
      'Se cierra la sesión de la aplicación en este dispositivo, y puede volver a pedirte permiso.',
    revokeAll: 'Revocar en todos los dispositivos',
    revokeAllAbout:
      'Se cierra la sesión de la aplicación en todas partes, y tiene que volver a pedirte permiso.',
  },
  sessions: {
    title: 'Sesiones',
    about:
      'Navegadores en los que has iniciado sesión. Si no reconoces alguno, cierra su sesión y cambia tu contraseña.',
    current: 'Este navegador',
    address: 'Dirección IP',
    since: 'Inicio de sesión',
    lastSeen: 'Última actividad',
    end: 'Cerrar sesión',
    endNamed: (browser: string) => `Cerrar sesión: ${browser}`,
    others: 'Cerrar las demás sesiones',
    othersAbout: 'Se cierra la sesión en todos los navegadores menos en este.',
    alone: 'No has iniciado sesión en ningún otro lugar.',
    ended: 'Cerradas recientemente',
    endedReasons: {
      logout: 'Cerraste la sesión.',
      elsewhere: 'Cerraste la sesión de un navegador desde otro navegador.',
      login: 'Un nuevo inicio de sesión en el mismo navegador sustituyó la sesión.',
      password: 'Se cambió la contraseña.',
      administrator: 'Un administrador cerró tu sesión.',
      limit: 'Había demasiadas sesiones: se cerró la más antigua.',
    },
  },
  formPost: {
    title: 'Continuar a la aplicación',
    sentence: 'Si la aplicación no se abre por sí sola, pulsa el botón.',
    submit: 'Continuar',
  },
  logout: {
    title: '¿Cerrar sesión?',
    asks: (client: string) => `${client} quiere cerrar tu sesión.`,
    user: 'Has iniciado sesión como',
    submit: 'Cerrar sesión',
    stay: 'Mantener la sesión',
    doneTitle: 'Has cerrado sesión',
    done: 'Ya no tienes una sesión abierta aquí.',
    back: 'Volver a la aplicación',
  },
  userLinks: {
    reset_password: {
      title: '¿Has olvidado tu contraseña?',
      about:
        'Escribe tu correo electrónico. Recibirás un enlace con el que podrás establecer una contraseña nueva.',
      openTitle: 'Establecer una contraseña nueva',
      submit: 'Establecer contraseña',
      done: 'Tu contraseña se ha cambiado. Inicia sesión con la contraseña nueva.',
    },
    sign_up: {
      title: 'Crear una cuenta',
      about:
        'Escribe tu correo electrónico. Recibirás un enlace con el que podrás crear tu cuenta.',
      openTitle: 'Crear una cuenta',
      submit: 'Crear cuenta',
      done: 'Tu cuenta se ha creado. Ya puedes iniciar sesión.',
    },
    verify_email: {
      openTitle: 'Confirmar el correo electrónico',
      submit: 'Confirmar',
      done: 'Tu correo electrónico está confirmado.',
      about: 'Aún no has confirmado tu correo electrónico:',
    },
    request: 'Enviar enlace',
    sent: (email) =>
      `Revisa tu correo. Si la dirección ${email} es correcta, recibirás un enlace válido durante una hora.`,
    toLogin: 'Volver al inicio de sesión',
    tooMany: 'Se han solicitado demasiados enlaces. Vuelve a intentarlo dentro de diez minutos.',
  },
  password: {
    title: 'Cambiar la contraseña',
    about:
      'Después del cambio, solo seguirás con la sesión iniciada en este navegador. Las aplicaciones y los tokens personales conservan su acceso.',
    current: 'Contraseña actual',
    next: 'Contraseña nueva',
    hint: (min: number) => `Al menos ${min} caracteres.`,
    submit: 'Cambiar la contraseña',
  },
  activity: {
    title: 'Actividad reciente',
    about:
      'Lo que ha ocurrido con tu cuenta. Si no reconoces algo, cambia la contraseña y revoca lo que no conozcas.',
    none: 'Todavía no hay nada.',
    from: 'Desde',
    browser: 'Navegador o programa',
    somebodyElse: 'Otra persona, por ejemplo un administrador',
    since: 'Desde el día',
    until: 'Hasta el día',
    changes: 'Cambios',
    download: 'Descargar',
    atMost: (count: string) => `Como máximo ${count} eventos, los más recientes primero.`,
    emptyValue: 'vacío',
  },
  events: {
    'login.succeeded': 'Inicio de sesión',
    'login.failed': 'Se rechazó un inicio de sesión',
    'session.ended': 'Cierre de sesión',
    'consent.given': 'Aplicación autorizada a actuar',
    'consent.withdrawn': 'Todos los permisos de una aplicación retirados',
    'token.issued': 'Una aplicación obtuvo un token',
    'id_token.issued': 'Inicio de sesión en una aplicación',
    'token.refreshed': 'Una aplicación renovó su token',
    'token.revoked': 'Se revocó un token',
    'token.deleted': 'Token eliminado',
    'refresh_token.reused': 'Se volvió a usar un token de actualización antiguo',
    'authorization_code.reused': 'Un código se usó dos veces',
    'device_code.reused': 'Un código de dispositivo se usó dos veces',
    'personal_token.created': 'Token personal creado',
    'personal_token.edited': 'Token personal modificado',
    'personal_token.rotated': 'Token personal con un valor nuevo',
    'personal_token.deleted': 'Token personal eliminado',
    'personal_token.restored': 'Token personal restaurado',
    'client.created': 'Aplicación registrada',
    'client.edited': 'Aplicación modificada',
    'client.deleted': 'Aplicación eliminada',
    'client.secret_reset': 'Nuevo secreto de cliente',
    'client.registration_token_leaked': 'Token de registro filtrado e invalidado',
    'client.secret_leaked': 'Secreto de cliente filtrado e invalidado',
    'client.id_reset': 'Nuevo ID de cliente',
    'client.verified': 'Aplicación verificada',
    'client.unverified': 'Verificación retirada',
    'client.logo_changed': 'Logotipo de una aplicación descargado',
    'client.disabled': 'Aplicación desactivada',
    'client.enabled': 'Aplicación reactivada',
    'client.pinned': 'Documento de una aplicación fijado',
    'client.unpinned': 'Documento de una aplicación liberado',
    'user.created': 'Usuario creado',
    'user.activated': 'Usuario activado',
    'user.deactivated': 'Usuario desactivado',
    'user.tokens_ended': 'Anuló todos los tokens de un usuario',
    'client.tokens_ended': 'Anuló todos los tokens de una aplicación',
    'user.admin_granted': 'Usuario convertido en administrador',
    'user.admin_withdrawn': 'Un usuario ya no es administrador',
    'user.password_changed': 'Contraseña cambiada',
    'user.email_verified': 'Correo electrónico confirmado',
    'user.email_changed': 'Correo electrónico cambiado',
    'user.deleted': 'Usuario eliminado',
    'user.vanished': 'Datos de un usuario que ya no existe eliminados',
    'users.missing': 'Muchos usuarios no encontrados; no se eliminó nada',
    'secret_key.rotated': 'Clave secreta del servidor cambiada',
    'signing_key.created': 'Nueva clave de firma',
  },
  admin: {
    title: 'Administración',
    mostRefused: 'Las más rechazadas',
    mostRefusedAbout:
      'Aplicaciones cuyas solicitudes se rechazaron más en los últimos siete días, con los últimos motivos. Cualquiera que conozca un ID de cliente puede causar una entrada.',
    clients: 'Aplicaciones',
    clientsAbout: 'Todas las aplicaciones registradas, sean de quien sean.',
    searchClients: 'Buscar aplicaciones',
    searchClientsHint: 'Nombre, ID de cliente o propietario',
    noClients: 'No se ha encontrado ninguna aplicación.',
    tokens: 'Tokens',
    tokensAbout: 'Todos los tokens emitidos; su valor no se puede ver.',
    searchTokens: 'Buscar tokens',
    searchTokensHint: 'Correo electrónico, ID de cliente o número del token',
    noTokens: 'No se ha encontrado ningún token.',
    search: 'Buscar',
    all: 'Mostrar todo',
    activityAbout: 'Todo lo que cambió quién puede hacer qué; lo más reciente, primero.',
    event: 'Evento',
    allEvents: 'Todos los eventos',
    userHint: 'Correo electrónico o ID',
    noEvents: 'No se ha encontrado ningún evento.',
    routine: 'Eventos rutinarios de las últimas 24 horas',
    routineAbout:
      'Tokens que las aplicaciones solicitaron para sí mismas, intercambiaron o renovaron. Se cuentan en lugar de mostrarse uno por uno.',
    routineCount: 'Cantidad',
    grantType: 'Tipo de concesión',
    token: 'Número del token',
    request: 'ID de la solicitud',
    actors: {
      client: 'Una aplicación',
      command_line: 'La línea de comandos',
      system: 'El servidor',
      unknown: 'Desconocido',
    },
    at: 'Cuándo',
    actor: 'Quién',
    owner: 'Propietario',
    user: 'Usuario',
    redirectUris: 'URI de redirección',
    personal: 'Token personal',
    issued: 'Emitido para una aplicación',
    tokensOfClient: 'Tokens de esta aplicación',
    activityOfClient: 'Actividad de esta aplicación',
    verify: 'Verificar',
    unverify: 'Retirar verificación',
    logo: 'Logotipo',
    logoRequested:
      'El servidor está descargando el logotipo. Vuelve a cargar la página en unos segundos.',
    logoFailed: 'No se pudo descargar el logotipo:',
    fetchLogo: 'Descargar de nuevo el logotipo',
    disable: 'Desactivar',
    enable: 'Reactivar',
    pin: 'Fijar documento',
    unpin: 'Dejar de fijar el documento',
    defaultResource: 'Recurso predeterminado',
    noDefaultResource: 'Ajuste del servidor',
    delete: 'Eliminar',
    deleteNamed: (name: string) => `Eliminar ${name}`,
    deleteAbout:
      'La aplicación y todos sus tokens desaparecen de inmediato. Esta acción no se puede deshacer.',
    confirmName: (name: string) => `Para confirmar, escribe su nombre: ${name}`,
  },
  users: {
    title: 'Usuarios',
    about: 'Busca usuarios, y consulta y termina sus sesiones, tokens y aplicaciones.',
    search: 'Buscar usuarios',
    hint: 'Comienzo del correo electrónico, o ID',
    exactHint: 'Correo electrónico completo o ID',
    notSearchable: 'Tu aplicación administra a sus usuarios y no ofrece búsqueda aquí.',
    none: 'No se encontró ningún usuario.',
    inactive: 'Desactivado',
    administrator: 'Administrador',
    unverified: 'Correo electrónico sin confirmar',
    id: 'Identificador',
    sessions: 'Sesiones',
    noSessions: 'Sin sesiones abiertas.',
    hostSessions:
      'Tu aplicación administra los inicios de sesión: cierra la sesión del usuario allí.',
    tokens: 'Tokens personales',
    noTokens: 'Sin tokens personales.',
    clients: 'Aplicaciones registradas',
    noClients: 'Sin aplicaciones registradas.',
    authorized: 'Aplicaciones permitidas',
    noAuthorized: 'Sin aplicaciones permitidas.',
    allActivity: 'Toda la actividad de este usuario',
    deactivate: {
      label: 'Desactivar al usuario',
      about:
        'El usuario ya no puede iniciar sesión, y todos sus tokens y aplicaciones se rechazan hasta que se active de nuevo.',
    },
    activate: {
      label: 'Activar al usuario',
      about:
        'El usuario puede iniciar sesión de nuevo, y sus tokens y aplicaciones vuelven a funcionar.',
    },
  },
  leaked: {
    title: 'Se filtró un secreto',
    about:
      'Pega un token, un secreto de cliente o un código que otros puedan haber visto. Verás qué es y decidirás qué hacer con él.',
    aboutAdmin:
      'Pega un token, un secreto de cliente o un código que otros puedan haber visto, de cualquier usuario o aplicación. Verás qué es y decidirás qué hacer con él.',
    paste: 'El secreto filtrado',
    pasteHint:
      'También sirve una cabecera, un comando curl completo o una línea de un registro. El texto no se guarda ni se vuelve a mostrar.',
    lookUp: 'Consultar',
    again: 'Consultar otro secreto',
    stale: 'El resultado ya no está guardado. Pega el secreto de nuevo.',
    tooMany: 'Se pegaron demasiados secretos desconocidos. Inténtalo de nuevo dentro de un minuto.',
    kinds: {
      personal_token: 'Token personal',
      access_token: 'Token de acceso de',
      refresh_token: 'Token de actualización de',
      client_secret: 'Secreto de cliente de',
      authorization_code: 'Código de autorización para',
      device_code: 'Código de dispositivo para',
      session: 'Sesión de un navegador',
      registration_token: 'Token de registro de',
      user_link: 'Enlace por correo a',
    },
    ending: 'Termina en',
    valid: 'Todavía funciona',
    ended: 'Ya no funciona',
    application: 'Aplicación',
    bound: 'Vinculado a una clave',
    boundAbout: 'Sí: sin la clave de la aplicación, es inútil.',
    history: 'Qué ocurrió',
    acts: {
      end: {
        label: 'Anular este secreto',
        about:
          'Deja de funcionar de inmediato, y los programas que lo usan pierden el acceso. Esto no se puede deshacer.',
      },
      endSecret: {
        label: 'Anular este secreto de cliente',
        about:
          'La aplicación no podrá identificarse hasta que su propietario cree un secreto nuevo.',
      },
      endSession: {
        label: 'Cerrar la sesión de este navegador',
        about: 'El navegador con esta sesión queda desconectado.',
      },
      endApplication: {
        label: 'Anular todos los tokens de la aplicación',
        about:
          'La aplicación pierde el acceso a todas las cuentas y tiene que preguntar de nuevo a cada usuario. Su secreto sigue siendo válido.',
      },
      revokeApplication: {
        label: 'Revocar la aplicación',
        about:
          'La aplicación pierde el acceso a tu cuenta en todos los dispositivos y tiene que preguntarte de nuevo.',
      },
      endUser: {
        label: 'Anular todos los tokens del usuario',
        about:
          'Todos los tokens personales del usuario dejan de funcionar, y todas las aplicaciones pierden el acceso a la cuenta. Esto no se puede deshacer.',
      },
      endMine: {
        label: 'Anular todos mis tokens',
        about:
          'Todos tus tokens personales dejan de funcionar, y todas las aplicaciones pierden el acceso a tu cuenta. Esto no se puede deshacer.',
      },
      disable: {
        label: 'Desactivar la aplicación',
        about:
          'La aplicación y todos sus tokens se rechazan hasta que un administrador la active de nuevo.',
      },
      logOut: {
        label: 'Cerrar todas las sesiones del usuario',
        about: 'Todos los navegadores del usuario quedan desconectados.',
      },
      logOutElsewhere: {
        label: 'Cerrar las demás sesiones',
        about: 'Todos tus navegadores excepto este quedan desconectados.',
      },
    },
  },
  error: {
    title: 'No se ha podido completar',
    known: {
      invalid_request: {
        what: 'La aplicación ha enviado una solicitud que no se puede procesar. Lo más probable es que sea un error de la aplicación, no tuyo.',
        advice:
          'Vuelve a la aplicación e inténtalo de nuevo. Si se repite, comunica a quien la desarrolla lo que aparece abajo.',
      },
      unauthorized_client: {
        what: 'La aplicación no está configurada para lo que ha intentado. Es un error de la aplicación, no tuyo.',
        advice: 'Comunica a quien la desarrolla lo que aparece abajo.',
      },
      unsupported_response_type: {
        what: 'La aplicación ha pedido algo que este servidor no ofrece. Es un error de la aplicación, no tuyo.',
        advice: 'Comunica a quien la desarrolla lo que aparece abajo.',
      },
      invalid_scope: {
        what: 'La aplicación ha pedido un permiso que no puede tener. Es un error de la aplicación, no tuyo.',
        advice: 'Comunica a quien la desarrolla lo que aparece abajo.',
      },
      access_denied: {
        what: 'Se ha rechazado el permiso. No es un error de nadie: la aplicación no puede hacer nada en tu nombre.',
        advice:
          'Puedes cerrar esta página. Si cambias de opinión, empieza de nuevo desde la aplicación.',
      },
      login_required: {
        what: 'La aplicación quería continuar sin pedirte que inicies sesión, y aquí no has iniciado sesión. No se ha hecho nada.',
        advice: 'Vuelve a la aplicación y empieza de nuevo.',
      },
      server_error: {
        what: 'Algo ha fallado por nuestra parte. No es un error tuyo ni de la aplicación.',
        advice: 'Vuelve a la aplicación e inténtalo de nuevo dentro de unos minutos.',
      },
      temporarily_unavailable: {
        what: 'El servicio no está disponible en este momento. No es un error tuyo ni de la aplicación.',
        advice: 'Vuelve a la aplicación e inténtalo de nuevo dentro de unos minutos.',
      },
    },
    expired: {
      what: 'La solicitud de la aplicación ha caducado o ya se ha usado. No se ha cambiado nada.',
      advice: 'Vuelve a la aplicación y empieza de nuevo.',
    },
    unknown: {
      what: 'La aplicación y este servidor no han podido entenderse. Lo más probable es que sea un error de la aplicación, no tuyo.',
      advice:
        'Vuelve a la aplicación e inténtalo de nuevo. Si se repite, comunica a quien la desarrolla lo que aparece abajo.',
    },
    again: 'Vuelve a la aplicación e inténtalo de nuevo.',
    onlyYou: 'Solo el propietario de la aplicación y los administradores ven esto.',
    disabled: 'Un administrador ha desactivado la aplicación.',
    refusedUri: 'URI de redirección de la solicitud',
    registeredUris: 'URI de redirección registrados',
    noUri: 'Ninguno',
    differs: 'Qué difiere',
    openClient: 'Abrir la aplicación',
    parts: {
      scheme: 'El esquema, como http o https',
      host: 'El host',
      port: 'El puerto',
      path: 'La ruta',
      trailingSlash: 'La barra al final de la ruta',
      letterCase: 'Mayúsculas y minúsculas',
      query: 'La consulta después de ?',
      fragment: 'La parte después de #',
      character: 'Un carácter no permitido en direcciones, mostrado como U+…',
    },
    code: 'Código de error',
    details: 'Detalles',
    home: 'Ir a la página de inicio',
  },
  problem: {
    atWork:
      'Este formulario se envió dos veces y todavía lo estamos procesando. Vuelve a mirar la página en un momento.',
    staleLogout:
      'Esta página ya no está actualizada, por lo que no se cerró tu sesión. Ciérrala en la página de inicio.',
    title: 'No se ha podido completar',
    stale: 'Esta página ya no está actualizada. Decide de nuevo.',
    foreign: 'Este formulario no pertenece a tu sesión. No se ha hecho nada.',
    loggedOut: 'Tu sesión ya no está iniciada. Vuelve a la aplicación y empieza de nuevo.',
    decided:
      'Esta solicitud ya se ha respondido o ha caducado. Vuelve a la aplicación y empieza de nuevo.',
    askAgain: 'Mostrar la solicitud de nuevo',
    clientChanged: 'La aplicación ha cambiado o ya no existe. No se ha hecho nada.',
    notFound: 'No hay nada en esta dirección.',
    notFoundTitle: 'No encontrado',
    failed: 'Algo ha fallado por nuestra parte. Inténtalo de nuevo más tarde.',
    unavailable:
      'El servicio no está disponible en este momento. Inténtalo de nuevo dentro de un momento.',
    wrongMethod: 'Esta dirección no se puede usar de este modo. Vuelve atrás e inténtalo de nuevo.',
    tooLarge: 'Lo que se ha enviado es demasiado grande. No se ha hecho nada.',
    badRequest: 'Lo que se ha enviado no se puede leer. No se ha hecho nada.',
    late: 'Esta página ha estado abierta demasiado tiempo. No se ha cambiado nada. Muestra la solicitud otra vez.',
    tooMany:
      'Hay demasiadas solicitudes. No se ha cambiado nada. Espera unos minutos y vuelve a intentarlo.',
    linkInvalid: 'Este enlace ya no es válido o ya se ha usado. Solicita uno nuevo.',
  },
  problems: {
    usersElsewhere: 'Tu aplicación administra a sus usuarios: desactiva a este usuario allí.',
    looksLikeSecret: 'Esto parece un secreto. Una búsqueda lo pondría en direcciones y registros.',
    ownAccount: 'Esta es tu propia cuenta: solo otro administrador puede desactivarla.',
    credentialMissing: 'No hay ningún secreto en este texto. Pega el valor completo.',
    credentialsTooMany: 'El texto es demasiado largo. Pega solo la línea con el secreto.',
    credentialUnknown: 'Este servidor no conoce ningún secreto de este texto, o ya no funciona.',
    credentialNotYours: 'Ninguno de tus secretos está en este texto, o ya no funciona.',
    notRotatable:
      'Este token tiene un permiso que solo concede el propio servicio, así que aquí no puede recibir un valor nuevo.',
    changedMeanwhile:
      'La aplicación ha cambiado desde que se abrió esta página. Vuelve a revisarla.',
    nameMissing: 'Escribe un nombre.',
    nameTooLong: (limit: number) => `El nombre no puede tener más de ${limit} caracteres.`,
    emailInvalid: 'Esto no es una dirección de correo electrónico.',
    emailUnseen: 'La dirección contiene un carácter invisible. Escríbela en lugar de pegarla.',
    emailLookAlike:
      'La dirección contiene letras que parecen otras. Escríbela con un solo alfabeto.',
    unseenCharacter: 'Contiene un carácter invisible. Escribe el texto en lugar de pegarlo.',
    tooManyMarks: 'Hay demasiados signos sobre una misma letra.',
    descriptionTooLong: (limit: number) =>
      `La descripción no puede tener más de ${limit} caracteres.`,
    logoutUriInvalid:
      'Escribe una dirección que empiece por https:// y tenga un nombre de dominio completo, sin usuario, puerto ni #. O deja el campo vacío.',
    websiteInvalid: 'Escribe una dirección que empiece por https:// o deja el campo vacío.',
    redirectUriTooLong: (limit: number) => `Tiene más de ${limit} caracteres.`,
    redirectUriFragment: 'No puede contener # ni lo que va detrás.',
    redirectUriResponseParameter:
      'No puede contener un parámetro que añade nuestra respuesta, como code o state.',
    redirectUriCharacter: 'Contiene un carácter que una dirección no puede tener.',
    redirectUriPrivateUse:
      'Solo las aplicaciones públicas pueden usar una dirección con esquema propio, y solo si este servidor lo permite.',
    redirectUriInvalid: 'No es una dirección completa.',
    redirectUriNotHttps:
      'Tiene que empezar por https://. Solo en tu propio equipo puede empezar por http://localhost, http://127.0.0.1 o http://[::1].',
    tooManyClients: (limit: number) =>
      `Puedes registrar ${limit} aplicaciones como máximo. Elimina una que ya no necesites.`,
    tooManyPersonalTokens: (limit: number) =>
      `Puedes tener ${limit} tokens personales como máximo. Elimina uno que ya no necesites.`,
    applicationTooLong:
      'Los campos de esta aplicación son demasiado largos en conjunto. Acorta la descripción o quita URI de redirección.',
    tooManyRedirectUris: (limit: number) => `Puede haber ${limit} URI de redirección como máximo.`,
    scopeUnknown: (scope: string) => `El permiso ${scope} no existe o no se puede elegir.`,
    undoTooLate: 'Ya no se puede deshacer, o ya se ha deshecho en otra ventana.',
    draftLost:
      'El texto del formulario anterior no está disponible: se conserva 20 minutos para quien lo escribió y se muestra una vez.',
    expiredForGood:
      'El token ha caducado, así que no se puede cambiar su caducidad. Crea un valor nuevo.',
    expiresInvalid: 'Escribe una fecha, como 2030-01-31.',
    expiresInPast: 'Elige un día futuro.',
    expiresTooLate: (day: string) => `Elige un día que sea, como muy tarde, el ${day}.`,
    expiresMissing: (day: string) => `Elige un día, como muy tarde el ${day}.`,
    confirmName: 'Ese no es el nombre. No se ha eliminado nada.',
    passwordWrong: 'La contraseña actual no es correcta.',
    passwordTooShort: (limit: number) => `La contraseña debe tener al menos ${limit} caracteres.`,
    passwordTooLong: 'La contraseña es demasiado larga.',
    overlapInvalid: 'Elige uno de los plazos que se ofrecen.',
    other: 'No se puede guardar. Revisa lo que has escrito.',
    stale:
      'Esta página ya no está actualizada, por ejemplo porque iniciaste sesión de nuevo en otra ventana. No se ha cambiado nada. Revisa lo que escribiste y envíalo de nuevo.',
    loggedOut:
      'Tu sesión se había cerrado, así que aún no se ha guardado nada. Revisa lo que escribiste y guárdalo.',
    redirectUrisMissing: 'Esta clase de aplicación necesita al menos un URI de redirección.',
    redirectUrisUnused:
      'Una máquina no tiene URI de redirección. Deja el campo vacío o elige otra clase.',
  },
  done: {
    userDeactivated: (name: string) => `Se desactivó a ${name}.`,
    userActivated: (name: string) => `Se activó a ${name}.`,
    credentialEnded: 'El secreto ya no funciona.',
    applicationTokensEnded: (name: string) => `Se anularon todos los tokens de «${name}».`,
    ownTokensEnded: 'Se anularon todos tus tokens.',
    userTokensEnded: (name: string) => `Se anularon todos los tokens de ${name}.`,
    loggedOut: (name: string) => `Se cerraron todas las sesiones de ${name}.`,
    deviceRevoked: (name) => `Se ha cerrado la sesión de ${name} en ese dispositivo.`,
    clientCreated: 'La aplicación está registrada.',
    clientSaved: 'Se han guardado los cambios.',
    clientDeleted: (name: string) => `Se ha eliminado la aplicación «${name}».`,
    secretReset: 'La aplicación tiene un secreto nuevo.',
    tokenCreated: 'Se ha creado el token.',
    tokenSaved: 'Se han guardado los cambios.',
    tokenRotated: 'El token tiene un valor nuevo.',
    tokenDeleted: (name: string) => `Se ha eliminado el token «${name}».`,
    tokensDeleted: count({ one: 'Se ha eliminado # token.', other: 'Se han eliminado # tokens.' }),
    tokensRestored: count({
      one: '# token vuelve a ser válido.',
      other: '# tokens vuelven a ser válidos.',
    }),
    formerEnded: 'El valor anterior ya no es válido.',
    tokenReduced: 'El token solo conserva los permisos que ha usado.',
    revokedSome: count({
      one: '# aplicación ya no puede actuar en tu nombre.',
      other: '# aplicaciones ya no pueden actuar en tu nombre.',
    }),
    revoked: (name: string) => `«${name}» ya no puede actuar en tu nombre.`,
    revokedAll: 'Ninguna aplicación puede actuar ya en tu nombre.',
    sessionEnded: 'Se ha cerrado la sesión de ese navegador.',
    linkSent: (email) => `Se ha enviado un enlace a ${email}. Es válido durante una hora.`,
    passwordChanged:
      'Tu contraseña se ha cambiado. Se ha cerrado la sesión en los demás navegadores.',
    otherSessionsEnded: 'Se ha cerrado la sesión en todos los demás navegadores.',
    logoRequested: (name: string) => `Se está descargando el logotipo de «${name}».`,
    clientVerified: (name: string) => `«${name}» aparece como verificada.`,
    clientUnverified: (name: string) => `«${name}» ya no aparece como verificada.`,
    clientDisabled: (name: string) =>
      `Se ha desactivado «${name}»: se rechazan la aplicación y sus tokens.`,
    clientEnabled: (name: string) => `Se ha reactivado «${name}».`,
    clientPinned: (name: string) => `«${name}» está fijada: su documento ya no se consulta.`,
    clientUnpinned: (name: string) =>
      `«${name}» ya no está fijada: su documento se vuelve a consultar.`,
    defaultResourceChanged: (name: string) =>
      `Se ha cambiado el recurso predeterminado de «${name}».`,
  },
}
