/* SPDX-License-Identifier: MIT */
/* Display devices by WMI: COM whose calls are looked up, so that no program imports them. */
#include "host/wmi_win32.h"

#include "base/buf.h"
#include "host/env.h"
#include "host/system_win32.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define COBJMACROS
#include <windows.h>

#include <wbemcli.h> /* needs windows.h */

enum { CONTROLLERS_MAX = 64, NEXT_MS = 5000, TEXT_MAX = 65536, WORDS_MAX = 512 };

/* wbemcli.h: CLSID_WbemLocator, IID_IWbemLocator */
static const GUID locator_class = {
    0x4590f811, 0x1d3a, 0x11d0, {0x89, 0x1f, 0x00, 0xaa, 0x00, 0x4b, 0x2e, 0x24}};
static const GUID locator_kind = {
    0xdc12a687, 0x737f, 0x11cf, {0x88, 0x4d, 0x00, 0xaa, 0x00, 0x4b, 0x2e, 0x24}};

struct calls {
    HRESULT(WINAPI *begin)(void *reserved, DWORD mode);
    void(WINAPI *end)(void);
    HRESULT(WINAPI *create)
    (const GUID *class, IUnknown *outer, DWORD context, const GUID *kind, void **ret);
    HRESULT(WINAPI *set_blanket)
    (IUnknown *proxy, DWORD authentication, DWORD authorization, OLECHAR *principal, DWORD level,
     DWORD impersonation, void *identity, DWORD capabilities);
    BSTR(WINAPI *new_text)(const OLECHAR *text);
    void(WINAPI *free_text)(BSTR text);
    HRESULT(WINAPI *clear)(VARIANT *value);
};

static const struct {
    const char *library;
    const char *name;
    size_t offset;
} symbols[] = {
    {"ole32.dll", "CoInitializeEx", offsetof(struct calls, begin)},
    {"ole32.dll", "CoUninitialize", offsetof(struct calls, end)},
    {"ole32.dll", "CoCreateInstance", offsetof(struct calls, create)},
    {"ole32.dll", "CoSetProxyBlanket", offsetof(struct calls, set_blanket)},
    {"oleaut32.dll", "SysAllocString", offsetof(struct calls, new_text)},
    {"oleaut32.dll", "SysFreeString", offsetof(struct calls, free_text)},
    {"oleaut32.dll", "VariantClear", offsetof(struct calls, clear)},
};

/* The libraries stay loaded: COM may have threads of its own in them. */
static int find_calls(struct calls *ret)
{
    for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
        void *lib;
        int r = gtel_env_real_lib_open(symbols[i].library, &lib);
        void *address = r == 0 ? gtel_env_real_lib_symbol(lib, symbols[i].name) : NULL;
        if (!address)
            return r < 0 ? r : -ENOENT;
        memcpy((char *)ret + symbols[i].offset, &address, sizeof(address));
    }
    return 0;
}

/* What is not there, beside what is broken. */
static int error_of(HRESULT r)
{
    if (r == REGDB_E_CLASSNOTREG || r == (HRESULT)WBEM_E_INVALID_NAMESPACE ||
        r == (HRESULT)WBEM_E_INVALID_CLASS)
        return -ENOENT;
    if (r == E_ACCESSDENIED || r == (HRESULT)WBEM_E_ACCESS_DENIED)
        return -EACCES;
    return r < 0 ? -EIO : 0;
}

/* One property on a line of its own. A uint32 comes as VT_I4 (Microsoft: "Numbers" of WMI). */
static void put_property(const struct calls *call, IWbemClassObject *object, const wchar_t *name,
                         struct gtel_buf *out)
{
    VARIANT value = {0};
    char text[WORDS_MAX];
    if (IWbemClassObject_Get(object, name, 0, &value, NULL, NULL) < 0)
        return;
    char *utf8 = V_VT(&value) == VT_BSTR ? gtel_win32_utf8(V_BSTR(&value)) : NULL;
    if (utf8) {
        gtel_str_clean(text, sizeof(text), gtel_str_of(utf8));
        gtel_buf_printf(out, "%ls: %s\n", name, text);
    } else if (V_VT(&value) == VT_I4) {
        gtel_buf_printf(out, "%ls: %lu\n", name, (unsigned long)V_I4(&value));
    }
    free(utf8);
    (void)call->clear(&value);
}

static HRESULT list(const struct calls *call, IWbemServices *services, struct gtel_buf *out)
{
    static const wchar_t *const names[] = {L"PNPDeviceID", L"Name", L"AdapterRAM"};
    IEnumWbemClassObject *all = NULL;
    BSTR language = call->new_text(L"WQL");
    BSTR query = call->new_text(L"SELECT PNPDeviceID,Name,AdapterRAM FROM Win32_VideoController");
    HRESULT r = E_OUTOFMEMORY;
    if (language && query)
        r = IWbemServices_ExecQuery(services, language, query,
                                    WBEM_FLAG_FORWARD_ONLY | WBEM_FLAG_RETURN_IMMEDIATELY, NULL,
                                    &all);
    call->free_text(language);
    call->free_text(query);
    for (int i = 0; r == S_OK && i < CONTROLLERS_MAX; i++) {
        IWbemClassObject *object = NULL;
        ULONG got = 0;
        r = IEnumWbemClassObject_Next(all, NEXT_MS, 1, &object, &got);
        if (r != S_OK || got != 1)
            break;
        for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
            put_property(call, object, names[k], out);
        (void)IWbemClassObject_Release(object);
    }
    if (all)
        (void)IEnumWbemClassObject_Release(all);
    return r == (HRESULT)WBEM_S_TIMEDOUT ? E_FAIL : r; /* half a list is none */
}

static HRESULT ask(const struct calls *call, struct gtel_buf *out)
{
    IWbemLocator *locator = NULL;
    IWbemServices *services = NULL;
    BSTR place = call->new_text(L"ROOT\\CIMV2");
    HRESULT r = place ? call->create(&locator_class, NULL, CLSCTX_INPROC_SERVER, &locator_kind,
                                     (void **)&locator)
                      : E_OUTOFMEMORY;
    if (r >= 0)
        r = IWbemLocator_ConnectServer(locator, place, NULL, NULL, NULL,
                                       WBEM_FLAG_CONNECT_USE_MAX_WAIT, NULL, NULL, &services);
    if (r >= 0)
        r = call->set_blanket((IUnknown *)services, RPC_C_AUTHN_WINNT, RPC_C_AUTHZ_NONE, NULL,
                              RPC_C_AUTHN_LEVEL_CALL, RPC_C_IMP_LEVEL_IMPERSONATE, NULL, EOAC_NONE);
    if (r >= 0)
        r = list(call, services, out);
    if (services)
        (void)IWbemServices_Release(services);
    if (locator)
        (void)IWbemLocator_Release(locator);
    call->free_text(place);
    return r;
}

int64_t gtel_win32_wmi_controllers(char *buf, size_t n)
{
    struct calls call;
    struct gtel_buf out;
    int r = find_calls(&call);
    if (r < 0)
        return r;
    HRESULT began = call.begin(NULL, COINIT_MULTITHREADED);
    if (began < 0 && began != RPC_E_CHANGED_MODE) /* which is another kind of apartment: fine */
        return error_of(began);
    gtel_buf_init(&out, TEXT_MAX);
    r = error_of(ask(&call, &out));
    if (r == 0 && out.has_failed)
        r = -ENOMEM;
    size_t size = out.n < n ? out.n : n;
    if (r == 0 && size > 0)
        memcpy(buf, out.p, size);
    gtel_buf_done(&out);
    if (began >= 0)
        call.end();
    return r < 0 ? r : (int64_t)size;
}
