package io.tollgate.spring.boot;

import java.io.FileNotFoundException;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.util.ResourceUtils;
import org.springframework.util.StringUtils;

/**
 * The files of one of Spring Boot's PEM bundles, {@code spring.ssl.bundle.pem.*}. The native library does TLS by itself and reads
 * files, so what isn't a file is refused: a bundle that was half used would be a trap.
 */
final class PemBundle {
    private static final String BUNDLES = "spring.ssl.bundle.pem";

    private final Map<String, Pem> bundles;
    private final String property;
    private final String name;

    /** The property is the one that names the bundle. */
    PemBundle(Binder binder, String property, String name) {
        this.bundles = binder.bind(BUNDLES, Bindable.mapOf(String.class, Pem.class)).orElseGet(Collections::emptyMap);
        this.property = property;
        this.name = name;
    }

    /** Options of a URL with their paths: ca, cert, key. */
    Map<String, String> files() {
        Pem bundle = bundles.get(name);
        if (bundle == null) {
            throw new IllegalArgumentException("property " + property + '=' + name + " names no PEM bundle with files: set " + BUNDLES + '.' + name
                    + ".truststore.certificate. " + remedy());
        }
        Map<String, String> files = new LinkedHashMap<>();
        put(files, "ca", "truststore.certificate", bundle.truststore.certificate);
        put(files, "cert", "keystore.certificate", bundle.keystore.certificate);
        put(files, "key", "keystore.private-key", bundle.keystore.privateKey);
        if (StringUtils.hasText(bundle.keystore.privateKeyPassword)) {
            throw unusable("keystore.private-key-password", "is set, and encrypted keys can't be read");
        }
        if (files.containsKey("cert") != files.containsKey("key")) {
            throw unusable("keystore", "needs both certificate and private-key");
        }
        return files;
    }

    private void put(Map<String, String> files, String option, String part, String location) {
        if (!StringUtils.hasText(location)) {
            return;
        }
        String trimmed = location.trim();
        boolean elsewhere = trimmed.startsWith("-----") || ResourceUtils.isUrl(trimmed) && !trimmed.startsWith(ResourceUtils.FILE_URL_PREFIX)
                || trimmed.startsWith("base64:");
        if (elsewhere) {
            // Not the value: it may be the key itself.
            throw unusable(part, "is no file");
        }
        try {
            files.put(option, ResourceUtils.getFile(trimmed).getPath());
        } catch (FileNotFoundException e) {
            throw unusable(part, "is no file");
        }
    }

    private IllegalArgumentException unusable(String part, String why) {
        return new IllegalArgumentException("property " + BUNDLES + '.' + name + '.' + part + ' ' + why + ". " + remedy());
    }

    private static String remedy() {
        return "Name PEM files there, without a password, or give tollgate.redis.url=rediss://HOST:PORT?ca=FILE&cert=FILE&key=FILE.";
    }

    /** As Spring Boot 3.1 and later bind it, as far as it matters here. */
    static final class Pem {
        private Store keystore = new Store();
        private Store truststore = new Store();

        public Store getKeystore() {
            return keystore;
        }

        public void setKeystore(Store keystore) {
            this.keystore = keystore;
        }

        public Store getTruststore() {
            return truststore;
        }

        public void setTruststore(Store truststore) {
            this.truststore = truststore;
        }
    }

    /** Certificates, and the key if they are one's own. */
    static final class Store {
        private String certificate;
        private String privateKey;
        private String privateKeyPassword;

        public String getCertificate() {
            return certificate;
        }

        public void setCertificate(String certificate) {
            this.certificate = certificate;
        }

        public String getPrivateKey() {
            return privateKey;
        }

        public void setPrivateKey(String privateKey) {
            this.privateKey = privateKey;
        }

        public String getPrivateKeyPassword() {
            return privateKeyPassword;
        }

        public void setPrivateKeyPassword(String privateKeyPassword) {
            this.privateKeyPassword = privateKeyPassword;
        }
    }
}
